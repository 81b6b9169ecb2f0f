"""A migration as Markdown, ready to paste into a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codemods.pipeline import Outcome
from codemods.plan import REASONS
from codemods.report import Report, plural, tests_by_device
from hwlint.classify.verdict import Verdict
from hwlint.suite.manifest import FATES, Entry

MOST_ROWS = 60
"""Rows of a table that are shown; the rest is counted."""


def as_markdown(report: Report) -> str:
    """Classes with labels and evidence, tests by device, renamed tests, refusals, names keyed elsewhere."""
    changed = report.changed
    lines = ["## Device-generic migration", ""]
    lines.append(
        f"{plural(report.changes, 'change')} in {plural(len(changed), 'file')}, made and checked by `hwlint migrate`."
    )
    lines += _section("Classes", _classes(report))
    lines += _section("Tests by device", _tests(report))
    lines += _section("Renamed tests", _renamed(report))
    lines += _section("Names keyed elsewhere", _keyed(report))
    lines += _section("Not changed", _refusals(report))
    lines += _section("Held back", _held(report))
    return "\n".join(lines) + "\n"


def _section(title: str, body: Iterator[str]) -> list[str]:
    lines = list(body)
    return ["", f"### {title}", "", *lines] if lines else []


def _classes(report: Report) -> Iterator[str]:
    rows = []
    for outcome in report.changed:
        touched = {change.symbol.partition(".")[0] for change in outcome.changes}
        for verdict in outcome.verdicts:
            if verdict.class_name.partition(".")[0] in touched:
                rows.append(
                    [f"`{outcome.path}`", f"`{verdict.class_name}`", _label(outcome, verdict), _evidence(verdict)]
                )
    yield from _table(["file", "class", "label", "evidence"], rows)


def _label(outcome: Outcome, verdict: Verdict) -> str:
    said = [
        c.description for c in outcome.changes if c.symbol == verdict.class_name and c.description.startswith("tag ")
    ]
    label = said[-1].removeprefix("tag ") if said else verdict.current or verdict.label
    return f"{label} ({verdict.confidence})" if "(" not in label else label


def _evidence(verdict: Verdict) -> str:
    ranked = sorted(verdict.evidence, key=lambda e: -e.weight)
    return "; ".join(e.message for e in ranked[:3])


def _tests(report: Report) -> Iterator[str]:
    by_device = tests_by_device(report)
    rows = []
    for device, row in by_device.items():
        kept = row["kept"] + row["renamed"]
        counts = (kept + row["moved"] + row["lost"], kept + row["new"], *(row[fate] for fate in FATES))
        rows.append([device, *map(str, counts)])
    yield from _table(["device", "before", "after", *FATES], rows)


def _renamed(report: Report) -> Iterator[str]:
    rows = []
    for outcome in report.changed:
        for entry in (*outcome.manifest.lost, *outcome.manifest.of("renamed")):
            rows.append([f"`{outcome.path}`", _name(entry, "before"), _name(entry, "after") or "**lost**"])
    if rows:
        yield f"<details><summary>{plural(len(rows), 'test')}</summary>"
        yield ""
        yield from _table(["file", "before", "after"], rows)
        yield ""
        yield "</details>"


def _name(entry: Entry, which: str) -> str:
    one = entry.before if which == "before" else entry.after
    return f"`{one.class_name}.{one.name}`" if one is not None else ""


def _keyed(report: Report) -> Iterator[str]:
    rows = []
    for key in report.keyed:
        where = f"{key.path}:{key.line}" if key.line else key.path
        rows.append([f"`{where}`", f"`{key.key}`", f"`{key.becomes}`" if key.becomes else "gone", key.meaning])
    yield from _table(["where", "names", "is now", "what for"], rows)


def _refusals(report: Report) -> Iterator[str]:
    rows = []
    for outcome, refusal in report.refusals:
        where = f"`{outcome.path}:{report.line(outcome, refusal.span.line)}`"
        rows.append([where, f"`{refusal.symbol}`" if refusal.symbol else "", refusal.text, REASONS[refusal.reason]])
    yield from _table(["where", "what", "why", "what it takes"], rows)


def _held(report: Report) -> Iterator[str]:
    rows = []
    for outcome, change in report.held:
        where = f"`{outcome.path}:{report.line(outcome, change.span.line)}`"
        rows.append([where, f"`{change.symbol}`", f"{change.codemod}: {change.description}"])
    yield from _table(["where", "what", "change (`--unsafe`)"], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    yield _row(head)
    yield _row(["---"] * len(head))
    yield from (_row(row) for row in rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        yield ""
        yield f"... and {len(rows) - MOST_ROWS} more"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
