"""``path:line:column: CODE message``, one finding a line."""

from __future__ import annotations

from hwlint.discover import printable
from hwlint.output.source import visible
from hwlint.output.summary import counts_by_rule, statistics_rows
from hwlint.output.view import View
from hwlint.report import Report


def render(report: Report, view: View) -> str:
    """One line a finding; with ``view.statistics`` one line a rule."""
    if view.statistics:
        return "".join(f"{row}\n" for row in statistics_rows(counts_by_rule(report)))
    rows = []
    for finding in report.findings:
        at = view.sources.region(finding.path, finding.span)
        rows.append(
            f"{visible(printable(finding.path))}:{at.line}:{at.column}: {finding.code} {visible(finding.message)}\n"
        )
    return "".join(rows)
