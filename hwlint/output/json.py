"""One JSON document; docs/json.md says what each key means. The version changes when a key changes or goes."""

from __future__ import annotations

from typing import Any

from hwlint import __version__
from hwlint.discover import printable
from hwlint.findings import Finding, Severity
from hwlint.output.fingerprint import fingerprint
from hwlint.output.rows import ROWS, dump_rows
from hwlint.output.source import Sources
from hwlint.output.summary import counts_by_rule, counts_by_severity
from hwlint.output.view import View
from hwlint.report import Report
from hwlint.scan.facts import Span

VERSION = 1


def render(report: Report, view: View) -> str:
    """The whole report as one document, a finding a line, ASCII only."""
    tool = {"name": "hwlint", "version": __version__}
    document: dict[str, Any] = {"version": VERSION, "tool": tool, "level": report.level}
    if report.revision:
        document["revision"] = report.revision
    document["summary"] = _summary(report)
    names = report.rule_names
    document["findings"] = ROWS
    document["errors"] = [{"path": printable(c.path), "stage": c.stage, "message": c.message} for c in report.crashes]
    return dump_rows(document, (_finding(f, names.get(f.code, ""), view.sources) for f in report.findings))


def _summary(report: Report) -> dict[str, Any]:
    severities = counts_by_severity(report)
    statistics = report.statistics
    return {
        "files": statistics.files,
        "findings": len(report.findings),
        "errors": severities[Severity.ERROR],
        "warnings": severities[Severity.WARNING],
        "notes": severities[Severity.INFO],
        "suppressed": statistics.suppressed,
        "ignored": statistics.ignored,
        "baselined": statistics.baselined,
        "unchanged": statistics.unchanged,
        "allowlisted_files": statistics.allowlisted,
        "rules": {c.code: c.count for c in sorted(counts_by_rule(report), key=lambda c: c.code)},
    }


def _finding(finding: Finding, name: str, sources: Sources) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": name,
        "severity": finding.severity.value,
        "upstream": finding.upstream,
        "message": finding.message,
        **_place(finding.path, finding.span, sources),
        "symbol": finding.symbol,
        "detail": finding.detail,
        "role": finding.role,
        "fingerprint": fingerprint(finding),
        "related": [{**_place(r.path, r.span, sources), "message": r.message} for r in finding.related],
        "fix": _fix(finding, sources),
    }


def _fix(finding: Finding, sources: Sources) -> dict[str, Any] | None:
    fix = finding.fix
    if fix is None:
        return None
    edits = []
    if fix.replacement is not None and fix.span is not None:
        edits.append({**_place(finding.path, fix.span, sources), "replacement": fix.replacement})
    return {"message": fix.message, "applicability": fix.applicability, "edits": edits}


def _place(path: str, span: Span, sources: Sources) -> dict[str, Any]:
    line, column, end_line, end_column = sources.region(path, span)
    return {"path": printable(path), "line": line, "column": column, "end_line": end_line, "end_column": end_column}
