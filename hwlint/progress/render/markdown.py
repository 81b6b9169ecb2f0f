"""Tables for an issue comment or a pull request."""

from __future__ import annotations

from dataclasses import replace

from hwlint.progress.render.tables import Cell, Share, Table, number, percent, report_tables
from hwlint.progress.render.text import bar, is_numeric
from hwlint.progress.report import ProgressReport

LIMIT = 65_000
"""GitHub takes 65,536 characters in a comment."""


def render_report(report: ProgressReport) -> str:
    """The report, with fewer rows where it would not fit a comment."""
    rows = report.rows or 1000
    while True:
        text = render_sections(report_tables(replace(report, rows=rows)))
        if len(text) <= LIMIT or rows <= 1:
            return text
        rows = rows * 3 // 4


def render_sections(tables: list[Table]) -> str:
    return "\n".join(_section(table, "##" if index == 0 else "###") for index, table in enumerate(tables))


def _section(table: Table, mark: str) -> str:
    lines = [f"{mark} {table.title}", ""]
    for line in table.text:
        lines += [escape(line, code=False), ""]
    if table.rows:
        numeric = [all(is_numeric(row[at]) for row in table.rows) for at in range(len(table.columns))]
        lines.append("| " + " | ".join(table.columns) + " |")
        lines.append("| " + " | ".join("---:" if is_number else "---" for is_number in numeric) + " |")
        codes = [name in ("command", "construct", "file", "stale entry", "folder", "class") for name in table.columns]
        for row in table.rows:
            lines.append("| " + " | ".join(_cell(cell, code) for cell, code in zip(row, codes)) + " |")
        if table.total:
            lines.append("| " + " | ".join(f"**{_cell(c, False)}**" if c != "" else "" for c in table.total) + " |")
        lines.append("")
    if table.note:
        lines += [f"<sub>{escape(table.note, code=False)}</sub>", ""]
    return "\n".join(lines)


def _cell(cell: Cell, code: bool) -> str:
    if isinstance(cell, Share):
        return f"{bar(cell.value, 10).replace('·', '░')} {percent(cell.value)}"
    if isinstance(cell, int):
        return number(cell)
    return escape(cell, code=code and cell != "")


def escape(text: str, *, code: bool) -> str:
    """Text that stays what it is in a table's cell; ``code`` puts it in backquotes."""
    line = " ".join(text.split())
    if code:
        ticks = "``" if "`" in line else "`"
        pad = " " if "`" in line else ""
        return f"{ticks}{pad}{line}{pad}{ticks}".replace("|", "\\|")
    for character in "\\*_<|@#[":
        # A user's name behind @ would be notified, a number behind # linked.
        line = line.replace(character, {"@": "@\u200b", "#": "#\u200b"}.get(character, "\\" + character))
    return line
