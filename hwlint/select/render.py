"""A selection as text, JSON, CSV, or a list that pytest or unittest takes."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from io import StringIO
from typing import Any

from hwlint import __version__
from hwlint.select.model import REASONS, Selection

VERSION = 1
DETAILS = 8
"""Details that a summary has of each reason."""
FORMATS = ("text", "json", "csv", "pytest", "unittest")


def render(format_name: str, selection: Selection, *, summary: bool = True) -> str:
    """The selection in one of FORMATS; docs/select.md describes them. ``summary``: whether text ends with one."""
    if format_name == "json":
        return json.dumps(_document(selection), indent=2) + "\n"
    if format_name == "csv":
        return _csv(selection)
    if format_name in ("pytest", "unittest"):
        names = (s.node_id if format_name == "pytest" else s.dotted for s in selection.selected if s.exact)
        return "".join(f"{name}\n" for name in dict.fromkeys(names))
    lines = [f"{s.node_id}" + (f"  # needs {', '.join(s.needs)}" if s.needs else "") for s in selection.selected]
    if summary:
        lines += ([""] if lines else []) + summary_lines(selection)
    return "".join(f"{line}\n" for line in lines)


def summary_lines(selection: Selection) -> list[str]:
    """How many tests apply, and why the others do not."""
    query = selection.query
    patterns = sum(not s.exact for s in selection.selected)
    conditional = len({(s.path, s.template_class, s.template_test, s.line) for s in selection.selected if s.needs})
    names = _counted(len(selection.selected), "ID")
    if patterns:
        names += f", {patterns} of them {'a pattern' if patterns == 1 else 'patterns'}"
    verb = "applies" if selection.tests == 1 else "apply"
    lines = [f"{query.device}, {' '.join(query.labels)}: {_counted(selection.tests, 'test')} {verb} ({names})"]
    if conditional:
        lines.append(f"{conditional} of them may need something else of the host")
    verb = "does" if len(selection.excluded) == 1 else "do"
    lines.append(f"{_counted(len(selection.excluded), 'test')} {verb} not apply" + (":" if selection.excluded else ""))
    for reason, count in _counts(one.reason for one in selection.excluded):
        lines.append(f"  {count:>6}  {reason}: {REASONS[reason]}")  # type: ignore[index]
        details = _counts(one.detail for one in selection.excluded if one.reason == reason and one.detail)
        lines += (f"       {count:>6}  {detail}" for detail, count in details[:DETAILS])
        if len(details) > DETAILS:
            lines.append(f"              and {len(details) - DETAILS} others")
    if selection.unknown:
        lines.append(f"{_counted(len(selection.unknown), 'test')} may apply or not:")
        lines += (f"  {count:>6}  {reason}" for reason, count in _counts(one.reason for one in selection.unknown))
    return lines


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _counts(found: Iterable[str]) -> list[tuple[str, int]]:
    """Each with how often it comes, the most frequent first."""
    return sorted(Counter(found).items(), key=lambda item: (-item[1], item[0]))


def _document(selection: Selection) -> dict[str, Any]:
    return {
        "version": VERSION,
        "kind": "hwlint-selection",
        "tool": {"name": "hwlint", "version": __version__},
        "device": selection.query.device,
        "classification": list(selection.query.labels),
        "summary": {
            "tests": selection.tests,
            "ids": len(selection.selected),
            "patterns": sum(not s.exact for s in selection.selected),
            "excluded": dict(_counts(one.reason for one in selection.excluded)),
            "unknown": dict(_counts(one.reason for one in selection.unknown)),
        },
        "selected": [{"id": s.node_id, "exact": s.exact, **asdict(s)} for s in selection.selected],
        "excluded": [asdict(one) for one in selection.excluded],
        "unknown": [asdict(one) for one in selection.unknown],
    }


def _csv(selection: Selection) -> str:
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["status", "id", "path", "class", "test", "line", "label", "exact", "reason", "detail"])
    for s in selection.selected:
        row = ["selected", s.node_id, s.path, s.template_class, s.template_test, s.line, s.label, int(s.exact)]
        writer.writerow([*row, "", "; ".join(s.needs)])
    for status, found in (("excluded", selection.excluded), ("unknown", selection.unknown)):
        for p in found:
            writer.writerow([status, "", p.path, p.class_name, p.test, p.line, p.label, "", p.reason, p.detail])
    return stream.getvalue()
