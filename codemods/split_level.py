"""Whether a split is a safe change, as one that was asked for: what stands against that, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codemods.plan import Context
from codemods.split_parts import REST, Part
from hwlint.classify.verdict import Verdict
from hwlint.suite.ids import class_ids
from hwlint.suite.model import LinkedClass


def likely_test(context: Context, verdict: Verdict, parts: Mapping[str, str]) -> tuple[str, ...]:
    """The doubt about a test whose label decides on its class, and is not as sure as it has to be."""
    if len({label for label in parts.values() if label != REST}) < 2 or context.settings.migrate.confidence == "likely":
        return ()
    doubted = (t for t in verdict.tests if t.confidence != "certain" and parts.get(t.name, REST) != REST)
    return tuple(f"where {t.name} belongs is likely, not certain" for t in doubted)[:1]


def known_by_name(context: Context, cls: LinkedClass, parts: Sequence[Part]) -> tuple[str, ...]:
    """The doubt about a test that moves, and that a file of the tree knows by its name."""
    moved = frozenset(name for part in parts[1:] for name in part.tests)
    for test in class_ids(cls) if moved else ():
        place = context.keys.place_of(test.class_name, test.name) if test.template_test in moved else ""
        if place:
            return (f"{place} knows {test.class_name}.{test.name} by its name",)
    return ()
