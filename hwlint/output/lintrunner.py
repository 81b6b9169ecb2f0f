"""lintrunner's LintMessage, one JSON object a line (src/lint_message.rs of suo/lintrunner, 0.13).

A command that lintrunner runs must exit with 0 when it did its work, whatever it found.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from hwlint.findings import Finding, Severity
from hwlint.output.view import View
from hwlint.report import Report

CODE = "HWLINT"
"""The ``code`` that the stanza in ``.lintrunner.toml`` must have."""
_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "advice"}


def render(report: Report, view: View) -> str:
    """A line a finding, and one a file that has a replacement: lintrunner applies only one a file."""
    whys = {rule.code: rule.why for rule in report.rules}
    names = report.rule_names
    lines = []
    for finding in report.findings:
        at = view.sources.region(finding.path, finding.span)
        name = f"[{finding.code}] {names.get(finding.code, '')}".rstrip()
        description = _description(finding, whys.get(finding.code, ""), view)
        lines.append(
            _message(report, finding.path, at.line, at.column, _SEVERITIES[finding.severity], name, description)
        )
    for path, (original, replacement) in sorted(view.replacements.items()):
        name, text = "[fix] safe fixes", "hwlint's safe fixes for this file."
        lines.append(_message(report, path, None, None, "advice", name, text, original, replacement))
    for crash in report.crashes:
        text = f"internal error in {crash.stage}: {crash.message}"
        lines.append(_message(report, crash.path, None, None, "error", "[crash] internal error", text))
    return "".join(line + "\n" for line in lines)


def _message(
    report: Report,
    path: str,
    line: int | None,
    char: int | None,
    severity: str,
    name: str,
    description: str,
    original: str | None = None,
    replacement: str | None = None,
) -> str:
    # lintrunner resolves a relative path against the folder it was started in, which need not be the root.
    message = {
        "path": os.path.join(report.root.absolute(), path),
        "line": line,
        "char": char,
        "code": CODE,
        "severity": severity,
        "name": name,
        "description": description,
        "original": original,
        "replacement": replacement,
    }
    return json.dumps(message)


def _description(finding: Finding, why: str, view: View) -> str:
    return "\n\n".join(_paragraphs(finding, why, view))


def _paragraphs(finding: Finding, why: str, view: View) -> Iterable[str]:
    yield finding.message
    if why:
        yield " ".join(why.split())
    for related in finding.related:
        at = view.sources.region(related.path, related.span)
        yield f"See {related.path}:{at.line}: {related.message}"
    if finding.fix is not None:
        yield f"Fix: {finding.fix.message}"
