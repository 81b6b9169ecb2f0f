"""Tables for a terminal."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from hwlint.progress.render.tables import Cell, Share, Table, number, percent

if TYPE_CHECKING:
    from rich.console import Console

BAR = 12
NARROWEST = 60


def render_tables(tables: list[Table], *, color: bool = False, width: int = 100) -> str:
    """The tables as text of at most ``width`` columns, with ANSI colours where ``color``."""
    from rich.console import Console

    stream = StringIO()
    console = Console(
        file=stream,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        highlight=False,
        width=max(width, NARROWEST),
        emoji=False,
        markup=False,
    )
    for index, table in enumerate(tables):
        if index:
            console.print()
        _print(console, table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _print(console: Console, table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    console.print(Text(table.title, style="bold"))
    for line in table.text:
        console.print(Text(line))
    if table.rows:
        grid = RichTable(
            box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="cyan", show_footer=bool(table.total)
        )
        for at, name in enumerate(table.columns):
            cells = [row[at] for row in table.rows]
            footer = _cell(table.total[at]) if table.total else ""
            grid.add_column(
                name,
                justify="right" if all(map(is_numeric, cells)) else "left",
                overflow="fold",
                footer=footer,
                no_wrap=any(isinstance(cell, (Share, int)) for cell in cells),
            )
        for row in table.rows:
            grid.add_row(*(_cell(cell) for cell in row))
        console.print(grid)
    if table.note:
        console.print(Text(table.note, style="dim"))


def is_numeric(cell: Cell) -> bool:
    """Whether a cell is a number or a change of one, so that its column is set to the right."""
    return isinstance(cell, int) or (
        isinstance(cell, str) and (cell == "" or cell.lstrip("+-").replace(",", "").isdigit())
    )


def _cell(cell: Cell) -> str:
    if isinstance(cell, Share):
        return f"{bar(cell.value)} {percent(cell.value):>6}"
    return number(cell) if isinstance(cell, int) else cell


def bar(share: float, width: int = BAR) -> str:
    """A bar of eighths of a block; something is seen of every share above 0, and something missing below 1."""
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    if share < 1:
        eighths = min(eighths, width * 8 - 1)
    full, part = divmod(eighths, 8)
    return ("█" * full + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[part]).ljust(width, "·")
