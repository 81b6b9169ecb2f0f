"""One file's findings parted by its suppressions; reading these is hwlint/scan/suppressions.py."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from hwlint.findings import Finding
from hwlint.scan.facts import Problem, Suppression


@dataclass(frozen=True, slots=True)
class Applied:
    """What a file's suppressions did to its findings."""

    kept: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    unused: tuple[tuple[Suppression, tuple[str, ...]], ...]
    """Suppressions with the codes that suppressed nothing (HW002)."""
    problems: tuple[Problem, ...]
    """Suppressions without the reason they have to give."""


def apply(
    findings: Iterable[Finding],
    suppressions: Iterable[Suppression],
    *,
    active: Collection[str] | None = None,
    require_reason: bool = False,
) -> Applied:
    """Part one file's findings by its suppressions.

    ``active``: codes of the rules that ran; a suppression of another is not called unused. One without a reason still
    holds where ``require_reason`` is set, yet is reported.
    """
    by_line = list(suppressions)
    used: set[tuple[int, str]] = set()
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    for finding in findings:
        hit = False
        for number, one in enumerate(by_line):
            if finding.code in one.codes and one.first_line <= finding.span.line <= one.last_line:
                used.add((number, finding.code))
                hit = True
        (suppressed if hit else kept).append(finding)
    unused = []
    problems = []
    for number, one in enumerate(by_line):
        idle = tuple(c for c in one.codes if (number, c) not in used and (active is None or c in active))
        if idle:
            unused.append((one, idle))
        if require_reason and not one.reason:
            message = f"the suppression of {', '.join(one.codes)} gives no reason: write it after the bracket"
            problems.append(Problem(one.span.line, one.span.column, message, kind="suppression"))
    return Applied(tuple(kept), tuple(suppressed), tuple(unused), tuple(problems))
