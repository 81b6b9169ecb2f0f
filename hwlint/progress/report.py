"""All that one report shows, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass

from hwlint.progress.history.course import Course
from hwlint.progress.history.estimate import Estimate
from hwlint.progress.model import Snapshot


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """A snapshot, how many folder levels to show, and where asked for the way to it."""

    snapshot: Snapshot
    depth: int = 2
    course: Course | None = None
    estimate: Estimate | None = None
    allowlist_estimate: Estimate | None = None
    rows: int = 15
    """Rows that a table for people has at most; 0 for all."""
