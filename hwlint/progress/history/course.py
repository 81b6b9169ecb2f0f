"""The points of a history, from git or from stored snapshots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hwlint.errors import UsageError
from hwlint.git import Git
from hwlint.progress.history.commits import Commit, list_commits, sample, walk
from hwlint.progress.history.rows import EMPTY, Numbers, Rows, from_numbers
from hwlint.progress.model import Snapshot
from hwlint.progress.tally import Tally, by_group, tally

Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Point:
    """The state at one commit, as far as labels and the allowlist go."""

    revision: str
    date: str
    """ISO 8601, UTC."""
    totals: Tally
    groups: dict[str, Tally] = field(default_factory=dict)
    allowlist_entries: int | None = None
    """None where there is no allowlist at that commit."""

    @property
    def unclassified(self) -> int:
        return self.totals.unclassified


@dataclass(frozen=True, slots=True)
class Course:
    """A history: points from the oldest to the newest."""

    points: tuple[Point, ...]
    every: str
    notes: tuple[str, ...] = ()
    """What the reader should know of how the points were come by."""
    pace: tuple[Point, ...] = ()
    """What the estimate is made from: the points at the end of each week, whatever is shown."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files of a commit a history is about, and how they are grouped."""

    is_test_file: Callable[[str], bool]
    group_of: Callable[[str], str]
    allowlist: str = ""
    """Path of the allowlist relative to the repository object's folder, '' for none."""
    read_allowlist: Callable[[bytes], frozenset[str] | None] = lambda data: None
    """Paths that an allowlist's content names, None where it cannot be read."""


def from_git(
    git: Git,
    rows: Rows,
    scope: Scope,
    revision: str,
    *,
    since: str = "",
    every: str = "week",
    report: Report | None = None,
) -> Course:
    """The course up to ``revision``. Raises UsageError for a ``since`` or ``every`` that says nothing, and for no
    commit at all.
    """
    listed = list_commits(git, revision, since)
    shown = frozenset(c.name for c in sample(listed.commits, every))
    weekly = frozenset(c.name for c in sample(listed.commits, "week"))
    commits = [c for c in listed.commits if c.name in shown | weekly]
    if not commits:
        raise UsageError(f"there is no commit since {since!r}" if since else "there is no commit yet")
    wanted = ["*.py", f":(literal){scope.allowlist}"] if scope.allowlist else ["*.py"]
    steps = list(walk(git, commits, wanted))
    rows.prepare((p, b) for _, changes in steps for p, b in changes.items() if b and scope.is_test_file(p))
    points = tuple(_points(git, rows, scope, steps, report))
    rows.save()
    notes = () if listed.complete else ("the clone is shallow: its history starts at the first point shown",)
    visible, paced = (tuple(p for p in points if p.revision in chosen) for chosen in (shown, weekly))
    return Course(visible, every, notes, paced)


def _points(
    git: Git, rows: Rows, scope: Scope, steps: Sequence[tuple[Commit, dict[str, str]]], report: Report | None
) -> list[Point]:
    files: dict[str, str] = {}
    shown: dict[str, Numbers] = {}
    users: dict[str, set[str]] = {}
    sums: dict[str, list[int]] = {}
    allowlist: frozenset[str] | None = None
    points = []
    for done, (commit, changes) in enumerate(steps, start=1):
        affected: set[str] = set()
        for path, blob in changes.items():
            if path == scope.allowlist:
                allowlist = _read_allowlist(git, scope, blob)
            if not path.endswith(".py"):
                continue
            affected |= users.get(path, set())
            if scope.is_test_file(path):
                affected.add(path)
            if blob:
                files[path] = blob
            else:
                files.pop(path, None)
        for path in affected:
            group = sums.setdefault(scope.group_of(path), list(EMPTY))
            _add(group, shown.pop(path, EMPTY), -1)
            if path in files:
                row = rows.row(path, files)
                shown[path] = row.numbers
                for other, _ in row.consulted:
                    users.setdefault(other, set()).add(path)
                _add(group, row.numbers, 1)
        points.append(_point(commit, sums, shown, allowlist, scope))
        if report is not None:
            report(done, len(steps))
    return points


def _point(
    commit: Commit,
    sums: dict[str, list[int]],
    shown: dict[str, Numbers],
    allowlist: frozenset[str] | None,
    scope: Scope,
) -> Point:
    listed: dict[str, int] = {}
    for path in allowlist or ():
        if path in shown:
            group = scope.group_of(path)
            listed[group] = listed.get(group, 0) + 1
    total = list(EMPTY)
    groups = {}
    for group in sorted(sums):
        if any(sums[group]):
            _add(total, sums[group], 1)
            groups[group] = from_numbers(sums[group], listed.get(group, 0))
    return Point(
        revision=commit.name,
        date=commit.date,
        totals=from_numbers(total, sum(listed.values())),
        groups=groups,
        allowlist_entries=None if allowlist is None else len(allowlist),
    )


def _read_allowlist(git: Git, scope: Scope, blob: str) -> frozenset[str] | None:
    content = next(git.read_blobs([blob]), None) if blob else None
    return None if content is None else scope.read_allowlist(content)


def _add(total: list[int], numbers: Sequence[int], sign: int) -> None:
    for at, number in enumerate(numbers):
        total[at] += sign * number


def from_snapshots(snapshots: Sequence[Snapshot]) -> Course:
    """The course that stored snapshots make, by date; of several of one date the last one counts."""
    by_date = {s.origin.date: s for s in snapshots if s.origin.date}
    undated = sum(not s.origin.date for s in snapshots)
    points = tuple(_snapshot_point(by_date[date]) for date in sorted(by_date))
    notes = (f"snapshots without a date are left out: {undated}",) if undated else ()
    return Course(points, "snapshot", notes, points)


def _snapshot_point(snapshot: Snapshot) -> Point:
    return Point(
        revision=snapshot.origin.revision,
        date=snapshot.origin.date,
        totals=tally(snapshot.files),
        groups=by_group(snapshot.files),
        allowlist_entries=snapshot.allowlist_entries if snapshot.allowlist else None,
    )
