"""What moved between two snapshots, as tables and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hwlint.discover import printable
from hwlint.progress.compare import Comparison, MoveKind
from hwlint.progress.document import KIND, VERSION, tally_document
from hwlint.progress.render.tables import Cell, Table, number, origin_line
from hwlint.progress.tally import COLUMNS, tally

TITLES: dict[MoveKind, str] = {
    "classified": "Newly classified",
    "declassified": "Lost their classification",
    "relabelled": "Relabelled",
    "added": "New classes",
    "removed": "Removed classes",
    "bound": "Newly bound to a device",
    "unbound": "No longer bound to a device",
}
SHOWN = 50
"""Rows of a table; JSON has all."""


def comparison_tables(comparison: Comparison) -> list[Table]:
    before, after = tally(comparison.before.files), tally(comparison.after.files)
    head = Table(
        "What moved",
        text=(
            f"from {origin_line(comparison.before.origin)}",
            f"to {origin_line(comparison.after.origin)}",
            f"unclassified classes: {number(before.unclassified)} -> {number(after.unclassified)} "
            f"({after.unclassified - before.unclassified:+,})",
        ),
    )
    rows: list[tuple[Cell, ...]] = []
    for label in COLUMNS:
        old, new = before.labels[label], after.labels[label]
        change = f"{new.classes - old.classes:+,}" if new.classes != old.classes else "0"
        rows.append((label or "unclassified", old.classes, new.classes, change, old.tests, new.tests))
    columns = ("classification", "classes before", "after", "change", "tests before", "after ")
    tables = [head, Table("By classification", columns, tuple(rows))]
    for kind, title in TITLES.items():
        moves = comparison.of_kind(kind)
        if moves:
            shown = tuple(
                (printable(m.path), m.name, m.before or "-", m.after or "-", printable(m.moved_from))
                for m in moves[:SHOWN]
            )
            note = f"{number(len(moves) - SHOWN)} more; --format json has all." if len(moves) > SHOWN else ""
            tables.append(
                Table(f"{title}: {number(len(moves))}", ("file", "class", "was", "is", "came from"), shown, note=note)
            )
    for title, paths in (
        ("New files", comparison.files_added),
        ("Removed files", comparison.files_removed),
        ("Renamed files", tuple(f"{a} -> {b}" for a, b in comparison.files_renamed)),
        ("New on the allowlist", comparison.listed),
        ("Off the allowlist", comparison.unlisted),
    ):
        if paths:
            note = f"{number(len(paths) - SHOWN)} more; --format json has all." if len(paths) > SHOWN else ""
            rows_of = tuple((printable(path),) for path in paths[:SHOWN])
            tables.append(Table(f"{title}: {number(len(paths))}", ("file",), rows_of, note=note))
    if comparison.regressions:
        found = tuple((printable(r.path), r.name, r.message) for r in comparison.regressions)
        tables.append(Table(f"Steps back: {number(len(found))}", ("file", "class", "what"), found))
    return tables


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    return {
        "version": VERSION,
        "kind": f"{KIND}-comparison",
        "before": _side(comparison.before),
        "after": _side(comparison.after),
        "moves": [asdict(move) for move in comparison.moves],
        "files_added": list(comparison.files_added),
        "files_removed": list(comparison.files_removed),
        "files_renamed": [list(pair) for pair in comparison.files_renamed],
        "listed": list(comparison.listed),
        "unlisted": list(comparison.unlisted),
        "regressions": [asdict(one) for one in comparison.regressions],
    }


def _side(snapshot: Any) -> dict[str, Any]:
    origin = snapshot.origin
    return {
        "revision": origin.revision,
        "date": origin.date,
        "modified": origin.modified,
        "hwlint": origin.hwlint,
        "settings": dict(origin.settings),
        "totals": tally_document(tally(snapshot.files)),
    }
