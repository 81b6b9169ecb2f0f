"""What CI may object to: too much left to do, or a step back."""

from __future__ import annotations

from hwlint.discover import printable
from hwlint.progress.compare import compare
from hwlint.progress.model import Snapshot
from hwlint.progress.tally import tally


def over_limit(snapshot: Snapshot, limit: int) -> list[str]:
    """One line where more than ``limit`` classes are unclassified."""
    unclassified = tally(snapshot.files).unclassified
    if unclassified <= limit:
        return []
    return [f"{unclassified} classes are unclassified, {unclassified - limit} more than the {limit} allowed"]


def worse_than(snapshot: Snapshot, baseline: Snapshot) -> list[str]:
    """A line for each class or file that is worse than in ``baseline``."""
    found = []
    for one in compare(baseline, snapshot).regressions:
        name = f"{printable(one.path)}: {one.name}" if one.name else printable(one.path)
        found.append(f"{name} {one.message}")
    return found
