"""A progress report in the format its reader uses; each is a module with ``render``, imported when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hwlint.progress.compare import Comparison
    from hwlint.progress.report import ProgressReport

FORMATS = ("text", "markdown", "json", "csv", "html")
COMPARISON_FORMATS = ("text", "markdown", "json")


def render(format_name: str, report: ProgressReport, *, color: bool = False, width: int = 100) -> str:
    """The report in the format ``format_name``, one of FORMATS. UsageError where html's libraries are not installed."""
    if format_name == "text":
        from hwlint.progress.render.tables import report_tables
        from hwlint.progress.render.text import render_tables

        return render_tables(report_tables(report), color=color, width=width)
    if format_name == "markdown":
        from hwlint.progress.render.markdown import render_report

        return render_report(report)
    if format_name == "csv":
        from hwlint.progress.render.csv_rows import render_csv

        return render_csv(report)
    if format_name == "html":
        from hwlint.progress.render.html import render_page

        return render_page(report)
    from hwlint.progress.document import dumps, report_document

    return dumps(report_document(report.snapshot, report.depth, report.course, report.estimate))


def render_comparison(format_name: str, comparison: Comparison, *, color: bool = False, width: int = 100) -> str:
    """What moved, in the format ``format_name``, one of COMPARISON_FORMATS."""
    from hwlint.progress.render.moves import comparison_document, comparison_tables

    if format_name == "json":
        from hwlint.progress.document import dumps

        return dumps(comparison_document(comparison))
    if format_name == "markdown":
        from hwlint.progress.render.markdown import render_sections

        return render_sections(comparison_tables(comparison))
    from hwlint.progress.render.text import render_tables

    return render_tables(comparison_tables(comparison), color=color, width=width)
