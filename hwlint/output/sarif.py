"""SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), as code-scanning services take it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from hwlint import __version__
from hwlint.findings import Finding, Fix, Severity
from hwlint.output.fingerprint import fingerprint
from hwlint.output.rows import ROWS, dump_rows
from hwlint.output.source import Sources
from hwlint.output.view import View
from hwlint.report import Crash, Report
from hwlint.rules.base import Rule
from hwlint.scan.facts import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_ROOT = "SRCROOT"


def render(report: Report, view: View) -> str:
    """One run with the rules that ran, a result a finding and a notification an internal error."""
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "hwlint",
                "version": __version__,
                "rules": [_rule(rule) for rule in report.rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the checked project."}}},
        "invocations": [
            {
                "executionSuccessful": not report.crashes,
                "toolExecutionNotifications": [_notification(crash) for crash in report.crashes],
            }
        ],
        "results": ROWS,
        "properties": {"level": report.level, **({"since": report.revision} if report.revision else {})},
    }
    return dump_rows({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, _results(report, view.sources))


def _rule(rule: type[Rule]) -> dict[str, Any]:
    why = " ".join(rule.why.split())
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": why},
        "help": {
            "text": why,
            "markdown": f"{why}\n\nBad:\n\n{_fenced(rule.bad)}\n\nGood:\n\n{_fenced(rule.good)}",
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"levels": list(rule.levels)},
    }


def _fenced(code: str) -> str:
    return f"```python\n{code.strip()}\n```"


def _results(report: Report, sources: Sources) -> Iterator[dict[str, Any]]:
    index = {rule.code: i for i, rule in enumerate(report.rules)}
    for finding in report.findings:
        result: dict[str, Any] = {"ruleId": finding.code}
        if finding.code in index:
            result["ruleIndex"] = index[finding.code]
        result |= {
            "level": _LEVELS[finding.severity],
            "message": {"text": finding.message},
            "locations": [_location(finding.path, finding.span, sources, symbol=finding.symbol)],
            "partialFingerprints": {"hwlint/v1": fingerprint(finding)},
        }
        if finding.related:
            result["relatedLocations"] = [
                {"id": i, **_location(r.path, r.span, sources, message=r.message)}
                for i, r in enumerate(finding.related)
            ]
        if finding.fix is not None and finding.fix.replacement is not None and finding.fix.span is not None:
            result["fixes"] = [_fix(finding, finding.fix, finding.fix.span, finding.fix.replacement, sources)]
        yield result


def _location(path: str, span: Span, sources: Sources, *, symbol: str = "", message: str = "") -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(path), "region": _region(path, span, sources)}
    }
    if symbol:
        location["logicalLocations"] = [{"fullyQualifiedName": symbol}]
    if message:
        location["message"] = {"text": message}
    return location


def _fix(finding: Finding, fix: Fix, span: Span, replacement: str, sources: Sources) -> dict[str, Any]:
    edit = {"deletedRegion": _region(finding.path, span, sources), "insertedContent": {"text": replacement}}
    return {
        "description": {"text": fix.message},
        "artifactChanges": [{"artifactLocation": _artifact(finding.path), "replacements": [edit]}],
        "properties": {"applicability": fix.applicability},
    }


def _artifact(path: str) -> dict[str, Any]:
    return {"uri": quote(os.fsencode(path)), "uriBaseId": _ROOT}


def _region(path: str, span: Span, sources: Sources) -> dict[str, int]:
    at = sources.region(path, span)
    return {"startLine": at.line, "startColumn": at.column, "endLine": at.end_line, "endColumn": at.end_column}


def _notification(crash: Crash) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": f"internal error in {crash.stage}: {crash.message}"},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(crash.path)}}],
    }
