"""Annotations for GitHub Actions: the workflow commands ``::error``, ``::warning`` and ``::notice``."""

from __future__ import annotations

from hwlint.discover import printable
from hwlint.findings import Severity
from hwlint.output.view import View
from hwlint.report import Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, view: View) -> str:
    """A workflow command a finding. GitHub takes columns only where the annotation stays on one line."""
    names = report.rule_names
    rows = []
    for finding in report.findings:
        at = view.sources.region(finding.path, finding.span)
        title = f"hwlint {finding.code} {names.get(finding.code, '')}".rstrip()
        properties = {"title": title, "file": printable(finding.path), "line": at.line, "endLine": at.end_line}
        if at.line == at.end_line:
            properties |= {"col": at.column, "endColumn": at.end_column}
        listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
        text = finding.message if finding.fix is None else f"{finding.message}\nFix: {finding.fix.message}"
        rows.append(f"::{_COMMANDS[finding.severity]} {listed}::{_data(text)}\n")
    return "".join(rows)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
