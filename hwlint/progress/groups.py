"""Module groups of a suite, as the migration's board has them: core, distributed, graph."""

from __future__ import annotations

from collections.abc import Sequence

from hwlint import globs

Groups = Sequence[tuple[str, Sequence[str]]]

DEFAULT_GROUPS: Groups = (
    ("distributed", ("distributed",)),
    ("graph", ("dynamo", "inductor", "export", "fx", "higher_order_ops", "functorch")),
)
"""Folders at any depth, by the labels ``module: tests/distributed`` and ``module: tests/graph`` of pytorch/pytorch."""
DEFAULT_REST = "core"
CONFIGURED_REST = "other"


def group_of(path: str, groups: Groups) -> str:
    """The group whose longest matching pattern is the longest of all (of two as long, the first by name); else the
    rest's name.

    ``groups`` empty means the default ones.
    """
    best: tuple[int, str] | None = None
    for name, patterns in sorted(groups or DEFAULT_GROUPS):
        lengths = [len(pattern.strip("/")) for pattern in patterns if globs.matches(path, (pattern,))]
        if lengths and (best is None or max(lengths) > best[0]):
            best = max(lengths), name
    if best is not None:
        return best[1]
    return CONFIGURED_REST if groups else DEFAULT_REST
