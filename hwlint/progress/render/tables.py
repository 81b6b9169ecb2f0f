"""The tables that the formats for people share: what they say, not how they look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hwlint.discover import printable
from hwlint.progress.history.course import Course, Point
from hwlint.progress.history.estimate import Estimate
from hwlint.progress.model import FileState, Origin, Snapshot
from hwlint.progress.report import ProgressReport
from hwlint.progress.steps import TITLES, cheapest
from hwlint.progress.tally import (
    COLUMNS,
    NOBODY,
    Rows,
    Tally,
    by_code_owner,
    by_folder,
    by_group,
    by_owner,
    constructs,
    tally,
)


@dataclass(frozen=True, slots=True)
class Share:
    """A cell that is a part of a whole, shown as a bar."""

    value: float
    """From 0 to 1."""


Cell = str | int | Share

LABEL_NOTE = (
    "Direct: tagged in its own body; inherited: by a base. From bases: tests that a class inherits or gets from a "
    "template, once more for each."
)


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; without columns, its lines are ``text``."""

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    text: tuple[str, ...] = ()
    """Above the rows."""
    note: str = ""
    """Below the rows."""
    total: tuple[Cell, ...] = ()
    """The last row, set apart."""


def report_tables(report: ProgressReport) -> list[Table]:
    """Everything that a report says, in reading order."""
    snapshot, rows = report.snapshot, report.rows
    total = tally(snapshot.files)
    found: list[Table | None] = [head_table(snapshot, total), labels_table(total)]
    found += tally_tables(report)
    found += [
        bound_table(snapshot, rows),
        steps_table(snapshot),
        cheapest_table(snapshot, rows),
        allowlist_table(snapshot, rows),
    ]
    if report.course is not None:
        found.append(history_table(report.course, report))
    return [table for table in found if table is not None]


def tally_tables(report: ProgressReport) -> list[Table]:
    """By group, folder, owner and code owner; the last two only where a file has one."""
    files, rows = report.snapshot.files, report.rows
    total = tally(files)
    tables = [tally_table("By group", "group", by_group(files), total, rows)]
    tables.append(tally_table(f"By folder, {report.depth} deep", "folder", by_folder(files, report.depth), total, rows))
    note = "A file with several owners counts for each."
    for title, name, found in (
        ("By owner", "owner", by_owner(files)),
        ("By code owner", "code owner", by_code_owner(files)),
    ):
        if any(key != NOBODY for key in found):
            tables.append(tally_table(title, name, found, None, rows, note))
    return tables


def origin_line(origin: Origin) -> str:
    """What the report is about and what made it, in one line."""
    parts = []
    if origin.revision:
        parts.append(f"revision {origin.revision[:12]}" + (" with uncommitted changes" if origin.modified else ""))
    if origin.date:
        parts.append(origin.date)
    parts.append(f"hwlint {origin.hwlint}")
    if origin.paths:
        parts.append("paths: " + " ".join(map(printable, origin.paths)))
    return ", ".join(parts)


def number(value: int) -> str:
    return f"{value:,}"


def counted(count: int, noun: str) -> str:
    """'1 class', '2 classes'."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number(count)} {noun if count == 1 else plural}"


def percent(share: float) -> str:
    """To a tenth; 0.0% and 100.0% are said of none and all only."""
    tenths = round(share * 1000)
    tenths = max(tenths, 1) if share > 0 else tenths
    tenths = min(tenths, 999) if share < 1 else tenths
    return f"{tenths / 10:.1f}%"


def head_table(snapshot: Snapshot, total: Tally) -> Table:
    classes = f"{counted(total.classes, 'class')} with {counted(total.tests, 'test')}"
    lines = [
        origin_line(snapshot.origin),
        f"{counted(total.files, 'test file')}, {number(total.files_with_classes)} of them with test classes: {classes}"
        + (
            f", and {counted(total.function_tests, 'test function')} outside of classes" if total.function_tests else ""
        ),
        f"{percent(total.share)} of the classes are classified: {number(total.classified)} of {number(total.classes)}, "
        f"{number(total.unclassified)} to go",
    ]
    if total.broken:
        lines.append(f"{counted(total.broken, 'file')} cannot be read; `hwlint check` says why")
    return Table("Progress", text=tuple(lines))


def labels_table(total: Tally) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label in COLUMNS:
        count = total.labels[label]
        share = count.classes / total.classes if total.classes else 0.0
        rows.append(
            (
                label or "unclassified",
                count.classes,
                count.classes_direct if label else "",
                count.classes_inherited if label else "",
                count.tests,
                count.tests_from_bases,
                Share(share),
            )
        )
    sums = (sum(c.tests_from_bases for c in total.labels.values()),)
    direct = sum(c.classes_direct for label, c in total.labels.items() if label)
    inherited = sum(c.classes_inherited for c in total.labels.values())
    return Table(
        "By classification",
        ("classification", "classes", "direct", "inherited", "tests", "from bases", "share of classes"),
        tuple(rows),
        total=("total", total.classes, direct, inherited, total.tests, *sums, Share(1.0 if total.classes else 0.0)),
        note=LABEL_NOTE,
    )


def tally_table(title: str, name: str, found: Rows, total: Tally | None, limit: int, note: str = "") -> Table:
    ordered = sorted(found.items(), key=lambda item: (-item[1].unclassified, -item[1].classes, item[0]))
    shown = ordered[:limit] if limit else ordered
    rows = tuple((printable(key), *_tally_cells(row)) for key, row in shown)
    columns = (name, "files", "classes", "to go", "bound", "split", "listed", "classified")
    last: tuple[Cell, ...] = ("total", *_tally_cells(total)) if total is not None else ()
    return Table(title, columns, rows, note=_more(len(ordered) - len(shown), note), total=last)


def _tally_cells(row: Tally) -> tuple[Cell, ...]:
    return (row.files, row.classes, row.unclassified, row.bound, row.split, row.allowlisted, Share(row.share))


def bound_table(snapshot: Snapshot, limit: int) -> Table | None:
    found = constructs(snapshot.files)
    if not found:
        return None
    classes = sum(file.bound for file in snapshot.files)
    files = sum(bool(file.bound) for file in snapshot.files)
    shown = found[:limit] if limit else found
    verb = "is" if classes == 1 else "are"
    where = f"{counted(classes, 'class')} in {counted(files, 'file')}"
    line = f"{where} {verb} tagged GENERIC or ACCELERATOR, and bound all the same."
    return Table(
        "Tagged, yet bound to a device",
        ("rule", "construct", "places"),
        tuple((one.code, one.name, one.count) for one in shown),
        text=(line,),
        note=_more(len(found) - len(shown)),
    )


def steps_table(snapshot: Snapshot) -> Table:
    kinds: dict[str, list[FileState]] = {}
    for file in snapshot.files:
        kinds.setdefault(file.step.kind, []).append(file)
    counts = tuple(
        (title, len(kinds[kind]), sum(f.unclassified for f in kinds[kind]))
        for kind, title in TITLES.items()
        if kind in kinds
    )
    return Table("What the files need", ("next step", "files", "classes to go"), counts)


def cheapest_table(snapshot: Snapshot, limit: int) -> Table | None:
    found = cheapest(snapshot.files)
    if not found:
        return None
    shown = found[:limit] if limit else found
    rows = tuple((f.unclassified, printable(f.step.command), "; ".join(f.step.reasons)) for f in shown)
    return Table("Cheapest next", ("to go", "command", "but for"), rows, note=_more(len(found) - len(shown)))


def allowlist_table(snapshot: Snapshot, limit: int) -> Table | None:
    if not snapshot.allowlist:
        return None
    shown = snapshot.stale[:limit] if limit else snapshot.stale
    line = f"{counted(snapshot.allowlist_entries, 'entry')}, {number(len(snapshot.stale))} stale"
    return Table(
        "Allowlist",
        ("stale entry", "why") if shown else (),
        tuple((printable(s.path), s.why) for s in shown),
        text=(line + (": `hwlint allowlist --update` takes what is stale out." if shown else "."),),
        note=_more(len(snapshot.stale) - len(shown)),
    )


def history_table(course: Course, report: ProgressReport) -> Table:
    points, limit = course.points, report.rows
    shown = list(points) if not limit or len(points) <= limit else _spread(points, limit)
    top = max((p.unclassified for p in points), default=0)
    rows: list[tuple[Cell, ...]] = []
    for before, point in zip([None, *shown], shown):
        rows.append(
            (
                point.date[:10],
                point.revision[:12],
                point.totals.classes,
                point.unclassified,
                "" if before is None else _signed(point.unclassified - before.unclassified),
                "" if point.allowlist_entries is None else point.allowlist_entries,
                Share(point.unclassified / top if top else 0.0),
            )
        )
    lines = [*(f"{note[:1].upper()}{note[1:]}." for note in course.notes), *pace_lines(report)]
    risen = [b for a, b in zip(points, points[1:]) if b.unclassified > a.unclassified]
    if risen:
        times = {1: "once", 2: "twice"}.get(len(risen), f"{len(risen)} times")
        last = f"{risen[-1].revision[:12]} ({risen[-1].date[:10]})".strip()
        lines.append(f"In {len(points) - 1} steps the count rose {times}, last at {last}.")
    columns = ("date", "revision", "classes", "to go", "change", "allowlist", "to go, of the most")
    note = (
        f"{len(points) - len(shown)} points between are not shown; --rows 0 shows all."
        if len(points) > len(shown)
        else ""
    )
    return Table("Over time", columns, tuple(rows), text=tuple(lines), note=note)


def pace_lines(report: ProgressReport) -> list[str]:
    """The pace and the estimates of a report with a history."""
    lines = estimate_lines("Unclassified classes", report.estimate)
    if report.allowlist_estimate is not None:
        lines += estimate_lines("Allowlist", report.allowlist_estimate)
    return lines


def estimate_lines(what: str, found: Estimate | None) -> list[str]:
    """The pace and when zero is reached, in sentences."""
    if found is None:
        return []
    pace = f"{what}: {number(found.remaining)} to go"
    if found.weeks:
        pace += f"; {found.per_week:+.1f} a week over {found.weeks} weeks"
    if found.reason == "zero is reached":
        return [f"{what}: none to go."]
    if found.reason:
        return [f"{pace}.", f"No estimate: {found.reason}."]
    if found.earliest == found.latest:
        return [f"{pace}.", f"Zero is reached about {found.median} in 80 of 100 simulated courses."]
    half = f"half of them by {found.median}"
    if not found.latest:
        late = "more than 10 not within ten years"
        return [f"{pace}.", f"Of 100 simulated courses 90 reach zero after {found.earliest}: {half}, {late}."]
    end = f"between {found.earliest} and {found.latest}"
    return [f"{pace}.", f"Zero is reached {end} in 80 of 100 simulated courses, {half}."]


def _spread(points: Sequence[Point], limit: int) -> list[Point]:
    """``limit`` points at even steps, the first and the last among them."""
    last = len(points) - 1
    return [points[round(at * last / (limit - 1))] for at in range(limit)] if limit > 1 else [points[last]]


def _signed(change: int) -> str:
    return f"{change:+,}" if change else "0"


def _more(left: int, note: str = "") -> str:
    parts: Iterable[str] = (note, f"{number(left)} more; --rows 0 shows all." if left > 0 else "")
    return " ".join(part for part in parts if part)
