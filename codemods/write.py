"""Putting outcomes into files: whole or not at all, and never over somebody's work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.patch import unified_diff
from codemods.pipeline import Outcome
from hwlint.allowlist import load_allowlist, save_allowlist
from hwlint.atomic import write_atomic
from hwlint.git import Git, GitError, find_top


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A file that was to be written and was not."""

    path: str
    why: str


def dirty_files(root: Path, paths: Sequence[str]) -> set[str]:
    """Those of ``paths`` with changes that git does not have yet; none where there is no git."""
    if find_top(root) is None:
        return set()
    try:
        return set(Git(root).is_dirty(paths))
    except GitError:
        return set()


def write_files(root: Path, outcomes: Iterable[Outcome], *, allow_dirty: bool) -> tuple[list[str], list[Unwritten]]:
    """Write the changed files: paths written, and those that were not with the reason.

    A file whose classes others import is written with those files, or not at all: what was written of them is put back
    where one cannot be. They come first, so that a run that is cut short leaves an import that fails, and no test that
    is missed.
    """
    changed = {o.path: o for o in outcomes if o.changed}
    dirty = set() if allow_dirty else dirty_files(root, list(changed))
    reasons = dict.fromkeys(dirty, "it has uncommitted changes (--allow-dirty writes it all the same)")
    reasons |= {path: why for path, o in changed.items() if path not in dirty and (why := _unreadable(root / path, o))}
    groups = _groups(changed.values())
    importers = {one.importer for o in changed.values() for one in o.replacements}
    written: list[str] = []
    for path in sorted(changed, key=lambda p: p not in importers):
        stuck = next((other for other in groups.get(path, (path,)) if other in reasons), "")
        if stuck and stuck != path:
            reasons[path] = f"{stuck}, which goes with it, is not written"
        why = reasons.get(path) or _write(root / path, changed[path].after)
        if not why:
            written.append(path)
            continue
        reasons[path] = why
        for other in [other for other in groups.get(path, ()) if other in written]:
            if not _write(root / other, changed[other].before):
                written.remove(other)
                reasons[other] = f"{path}, which goes with it, is not written"
    order = list(changed)
    unwritten = [Unwritten(path, reasons[path]) for path in order if path in reasons]
    return sorted(written, key=order.index), unwritten


def _groups(outcomes: Iterable[Outcome]) -> dict[str, tuple[str, ...]]:
    """For each file that others import from, or that imports, all that are to be written together."""
    groups: dict[str, set[str]] = {}
    for outcome in outcomes:
        for one in outcome.replacements:
            joined = {one.path, one.importer, *groups.get(one.path, ()), *groups.get(one.importer, ())}
            for path in joined:
                groups[path] = joined
    return {path: tuple(sorted(joined)) for path, joined in groups.items()}


def _unreadable(path: Path, outcome: Outcome) -> str:
    """Why the file is not to be written, as it is now; '' where it is."""
    try:
        return "" if path.read_bytes() == outcome.before else "it has changed since it was read"
    except OSError as error:
        return f"cannot be written: {error.strerror or error}"


def _write(path: Path, data: bytes) -> str:
    """Why the file was not written, '' where it was."""
    try:
        write_atomic(path, data)
    except OSError as error:
        return f"cannot be written: {error.strerror or error}"
    return ""


def write_patches(folder: Path, outcomes: Iterable[Outcome]) -> list[Path]:
    """One patch a changed file, ``folder``/<path>.patch. Raises OSError."""
    written = []
    for outcome in outcomes:
        if outcome.changed:
            target = folder / f"{outcome.path}.patch"
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(target, unified_diff(outcome.path, outcome.before, outcome.after))
            written.append(target)
    return written


def now_clean(outcomes: Iterable[Outcome]) -> list[str]:
    """Changed files in which upstream's linter finds nothing any more."""
    return [o.path for o in outcomes if o.changed and o.clean_after]


def shorten_allowlist(allowlist: Path, clean: Iterable[str]) -> list[str]:
    """Take the files ``clean`` out of the list, whose order stays: those taken out. Raises ConfigError."""
    from dataclasses import replace

    listed = load_allowlist(allowlist)
    gone = listed.paths & set(clean)
    if gone:
        kept = tuple(entry for entry in listed.entries if entry.path not in gone)
        save_allowlist(allowlist, replace(listed, entries=kept))
    return sorted(gone)
