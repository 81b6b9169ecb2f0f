"""Counts of a report, in figures and in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hwlint.findings import Severity
from hwlint.report import Report, Statistics

_NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How often a rule fired."""

    code: str
    name: str
    count: int


def counts_by_rule(report: Report) -> tuple[RuleCount, ...]:
    """Rules that fired, the most frequent first, then by code."""
    counts: dict[str, int] = {}
    for finding in report.findings:
        counts[finding.code] = counts.get(finding.code, 0) + 1
    names = report.rule_names
    found = (RuleCount(code, names.get(code, ""), count) for code, count in counts.items())
    return tuple(sorted(found, key=lambda c: (-c.count, c.code)))


def counts_by_severity(report: Report) -> dict[Severity, int]:
    """Every severity with its number of findings, in falling order of severity."""
    counts = dict.fromkeys(Severity, 0)
    for finding in report.findings:
        counts[finding.severity] += 1
    return counts


def statistics_rows(counts: Iterable[RuleCount]) -> list[str]:
    """``  12  HW101  name``, aligned."""
    counts = list(counts)
    width = max((len(str(c.count)) for c in counts), default=0)
    return [f"{c.count:>{width}}  {c.code}  {c.name}".rstrip() for c in counts]


def summary_line(report: Report) -> str:
    """'2 errors and 1 warning in 2 of 9 files (1 suppressed)', or that there is nothing."""
    found = [plural(n, _NOUNS[severity]) for severity, n in counts_by_severity(report).items() if n]
    files = report.statistics.files
    left_out = _left_out(report.statistics)
    if not found:
        return f"no findings in {plural(files, 'file')}{left_out}"
    # A finding need not lie in a file that was checked: a stale entry is one of the allowlist.
    touched = len({f.path for f in report.findings})
    where = plural(touched, "file") if touched >= files else f"{touched} of {plural(files, 'file')}"
    return f"{_listed(found)} in {where}{left_out}"


def _left_out(statistics: Statistics) -> str:
    parts = []
    if statistics.suppressed:
        parts.append(f"{statistics.suppressed} suppressed")
    if statistics.ignored:
        parts.append(f"{statistics.ignored} ignored by configuration")
    if statistics.baselined:
        parts.append(f"{statistics.baselined} in the baseline")
    if statistics.unchanged:
        parts.append(f"{statistics.unchanged} not new")
    if statistics.allowlisted:
        parts.append(f"{plural(statistics.allowlisted, 'file')} on the allowlist")
    return f" ({', '.join(parts)})" if parts else ""


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def plural(count: int, noun: str) -> str:
    """'1 file', '2 files'."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
