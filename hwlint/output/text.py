"""For people: grouped by file, with the source line, a caret under the place, the reason and the way out."""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.discover import printable
from hwlint.findings import Finding, Severity
from hwlint.output.source import Region, Sources, visible
from hwlint.output.summary import counts_by_rule, statistics_rows, summary_line
from hwlint.output.view import View
from hwlint.report import Report

Piece = tuple[str, str]
"""Text and its style, '' for none."""
Line = list[Piece]

_SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_MARGIN = 8
_WIDEST = 160
"""Longer source lines are cut to a window around the place."""


def render(report: Report, view: View) -> str:
    """Plain text, or with ANSI colours where the view asks for them; '' for a clean report without a summary."""
    lines = list(_statistics(report) if view.statistics else _findings(report, view.sources))
    if view.summary and (lines or report.findings or report.statistics.files):
        if lines:
            lines.append([])
        lines.append([(summary_line(report), "bold")])
    return _colored(lines) if view.color else "".join(_plain(line) for line in lines)


def _statistics(report: Report) -> Iterator[Line]:
    for row in statistics_rows(counts_by_rule(report)):
        yield [(row, "")]


def _findings(report: Report, sources: Sources) -> Iterator[Line]:
    whys = {rule.code: _first_sentence(rule.why) for rule in report.rules}
    path = None
    explained: set[str] = set()
    for finding in report.findings:
        if finding.path != path:
            if path is not None:
                yield []
            path = finding.path
            explained.clear()
            yield [(visible(printable(path)), "bold underline")]
        why = "" if finding.code in explained else whys.get(finding.code, "")
        explained.add(finding.code)
        yield from _finding(finding, why, sources)


def _finding(finding: Finding, why: str, sources: Sources) -> Iterator[Line]:
    at = sources.region(finding.path, finding.span)
    style = _SEVERITY_STYLES[finding.severity]
    place = f"{at.line}:{at.column}"
    yield [
        (f"{place:>{_MARGIN}} ", "cyan"),
        (finding.severity.value, style),
        (" ", ""),
        (finding.code, "bold"),
        (f" {visible(finding.message)}", ""),
        ("" if finding.symbol in finding.message else f"  [{finding.symbol}]", "dim"),
    ]
    yield from _excerpt(sources.line(finding.path, at.line), at, style)
    if why:
        yield _note("why", why)
    for related in finding.related:
        there = sources.region(related.path, related.span)
        yield _note("see", f"{printable(related.path)}:{there.line}:{there.column}  {related.message}")
    if finding.fix is not None and finding.fix.message not in finding.message:
        safety = f" ({finding.fix.applicability})" if finding.fix.applicability in ("safe", "unsafe") else ""
        yield _note(f"fix{safety}", finding.fix.message)


def _note(kind: str, text: str) -> Line:
    return [(" " * _MARGIN + " = ", "blue"), (f"{kind}: ", "bold"), (text, "")]


def _excerpt(source: str, at: Region, style: str) -> Iterator[Line]:
    """The line and carets under the place; nothing where the line is blank or gone."""
    if not source.strip():
        return
    start, end = at.column - 1, at.end_column - 1 if at.end_line == at.line else len(source.rstrip())
    end = max(end, start + 1)
    if len(source) > _WIDEST:
        cut = max(0, start - _WIDEST // 4)
        source, start, end = source[cut : cut + _WIDEST], start - cut, min(end - cut, _WIDEST)
    before, place = visible(source[:start]), visible(source[start:end])
    yield [(f"{at.line:>{_MARGIN}} | ", "blue"), (visible(source).rstrip(), "")]
    yield [(" " * _MARGIN + " | ", "blue"), (" " * _width(before), ""), ("^" * _width(place) or "^", style)]


def _width(text: str) -> int:
    """Columns of a terminal that the text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _first_sentence(text: str) -> str:
    """Up to the first full stop that ends a sentence, on one line."""
    line = " ".join(text.split())
    head, stop, _ = line.partition(". ")
    return head + "." if stop else line


def _plain(line: Line) -> str:
    return "".join(text for text, _ in line).rstrip() + "\n"


def _colored(lines: list[Line]) -> str:
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    stream = StringIO()
    # The standard colours follow the terminal's own theme; whether to colour at all is decided by the caller.
    console = Console(
        file=stream, force_terminal=True, color_system="standard", no_color=False, legacy_windows=False, highlight=False
    )
    for line in lines:
        console.print(Text.assemble(*line, end=""), soft_wrap=True)
    return stream.getvalue()
