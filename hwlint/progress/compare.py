"""What moved between two snapshots, and what of it is a step back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from hwlint.progress.model import UNCLASSIFIED, ClassState, FileState, Snapshot

MoveKind = Literal["classified", "declassified", "relabelled", "added", "removed", "bound", "unbound"]
REGRESSIONS = ("declassified", "added-unclassified", "bound", "listed", "broken")
ClassKey = tuple[str, str, int]
"""Path, name, and which of several classes of that name in the file."""


@dataclass(frozen=True, slots=True)
class Move:
    """One class that is not what it was."""

    kind: MoveKind
    path: str
    name: str
    before: str = ""
    """The label it had; '' for none or no class."""
    after: str = ""
    moved_from: str = ""
    """The path it had, where that is another."""


@dataclass(frozen=True, slots=True)
class Regression:
    """One step back."""

    kind: str
    """One of REGRESSIONS."""
    path: str
    name: str
    """The class, '' for a file."""
    message: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The way from one snapshot to the other."""

    before: Snapshot
    after: Snapshot
    moves: tuple[Move, ...]
    """By path and name."""
    files_added: tuple[str, ...] = ()
    files_removed: tuple[str, ...] = ()
    files_renamed: tuple[tuple[str, str], ...] = ()
    listed: tuple[str, ...] = ()
    """Files new on the allowlist."""
    unlisted: tuple[str, ...] = ()
    regressions: tuple[Regression, ...] = field(default=())

    def of_kind(self, kind: MoveKind) -> tuple[Move, ...]:
        return tuple(move for move in self.moves if move.kind == kind)


def compare(before: Snapshot, after: Snapshot) -> Comparison:
    """What moved. A class that left one file and is new, under its name, in exactly one other counts as moved, not
    as new.
    """
    old, new = _classes(before), _classes(after)
    gone = [key for key in old if key not in new]
    fresh = [key for key in new if key not in old]
    came_from = _moved(gone, fresh)
    moves: list[Move] = []
    for key, cls in new.items():
        source = key if key in old else came_from.get(key)
        moved_from = source[0] if source is not None and source[0] != key[0] else ""
        moves += _class_moves(key, old[source] if source is not None else None, cls, moved_from)
    left = set(came_from.values())
    moves += (Move("removed", key[0], key[1], before=old[key].label) for key in gone if key not in left)
    old_files, new_files = {f.path: f for f in before.files}, {f.path: f for f in after.files}
    renamed = _renamed(came_from, old_files, new_files)
    sources = {a for a, _ in renamed}
    targets = {b for _, b in renamed}
    was_listed = {f.path for f in before.files if f.allowlisted}
    is_listed = {f.path for f in after.files if f.allowlisted}
    return Comparison(
        before,
        after,
        tuple(sorted(moves, key=lambda m: (m.path, m.name, m.kind))),
        tuple(sorted(new_files.keys() - old_files.keys() - targets)),
        tuple(sorted(old_files.keys() - new_files.keys() - sources)),
        renamed,
        tuple(sorted(is_listed - was_listed)),
        tuple(sorted(was_listed - is_listed)),
        tuple(_regressions(moves, old_files, new_files, {b: a for a, b in renamed})),
    )


def _classes(snapshot: Snapshot) -> dict[ClassKey, ClassState]:
    found: dict[ClassKey, ClassState] = {}
    for file in snapshot.files:
        for cls in file.classes:
            at = 0
            while (file.path, cls.name, at) in found:
                at += 1
            found[file.path, cls.name, at] = cls
    return found


def _moved(gone: Iterable[ClassKey], fresh: Iterable[ClassKey]) -> dict[ClassKey, ClassKey]:
    """New key -> old key, where the name left one place and came to one place."""
    left: dict[str, list[ClassKey]] = {}
    came: dict[str, list[ClassKey]] = {}
    for key in gone:
        left.setdefault(key[1], []).append(key)
    for key in fresh:
        came.setdefault(key[1], []).append(key)
    return {came[n][0]: left[n][0] for n in left if len(left[n]) == 1 and len(came.get(n, ())) == 1}


def _class_moves(key: ClassKey, old: ClassState | None, new: ClassState, moved_from: str) -> Iterator[Move]:
    path, name, _ = key
    if old is None:
        yield Move("added", path, name, after=new.label)
    elif old.label != new.label:
        kind: MoveKind = "classified" if not old.label else "declassified" if not new.label else "relabelled"
        yield Move(kind, path, name, old.label, new.label, moved_from)
    was_bound = old is not None and bool(old.bound)
    if bool(new.bound) != was_bound:
        yield Move("bound" if new.bound else "unbound", path, name, old.label if old else "", new.label, moved_from)


def _renamed(
    came_from: dict[ClassKey, ClassKey], old: dict[str, FileState], new: dict[str, FileState]
) -> tuple[tuple[str, str], ...]:
    """Files that are gone and whose classes went to one new file."""
    pairs = {(a[0], b[0]) for b, a in came_from.items() if a[0] not in new and b[0] not in old}
    sources = [a for a, _ in pairs]
    targets = [b for _, b in pairs]
    return tuple(sorted(p for p in pairs if sources.count(p[0]) == 1 and targets.count(p[1]) == 1))


def _regressions(
    moves: Iterable[Move], old: dict[str, FileState], new: dict[str, FileState], renamed: dict[str, str]
) -> Iterator[Regression]:
    for move in sorted(moves, key=lambda m: (m.path, m.name, m.kind)):
        if move.kind == "declassified":
            text = f"was {move.before} and has no classification any more"
            yield Regression("declassified", move.path, move.name, text)
        elif move.kind == "added" and move.after == UNCLASSIFIED:
            yield Regression("added-unclassified", move.path, move.name, "is new and has no classification")
        elif move.kind == "bound":
            yield Regression(
                "bound", move.path, move.name, f"is tagged {move.after}, and bound to a device as it was not before"
            )
    for path, file in sorted(new.items()):
        before = old.get(renamed.get(path, path))
        if file.allowlisted and (before is None or not before.allowlisted):
            yield Regression("listed", path, "", "is new on the allowlist")
        if file.problem and (before is None or not before.problem):
            yield Regression("broken", path, "", f"cannot be read any more: {file.problem}")
