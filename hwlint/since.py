"""What a change adds: the findings of today less those of the revision it started from.

Both states are checked by the same engine, the old one as today's tree with the changed files' old contents laid over
it, so that a change to a base class in one file that breaks a subclass in another counts as new there. The revision is
compared as ``git diff REV...`` does: from the commit where this branch left it, so that what others landed since is not
laid to this change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hwlint.baseline import Compared, Fingerprint, compare
from hwlint.discover import Discovery
from hwlint.findings import Finding
from hwlint.git import Change, Git


@dataclass(frozen=True, slots=True)
class Since:
    """A change: its files, and how the tree is and was."""

    git: Git
    base: str
    """The commit that the tree is compared with."""
    staged: bool
    changes: tuple[Change, ...]
    """Python files that differ, new ones that git does not track among them (unless ``staged``)."""
    now: Mapping[str, bytes | None] = field(default_factory=dict)
    """Contents that differ from the files on disk: those of the index, if ``staged``."""
    before: Mapping[str, bytes | None] = field(default_factory=dict)

    def discovery_now(self, discovery: Discovery) -> Discovery:
        """Without the files that the index does not have."""
        return replace(discovery, paths=tuple(p for p in discovery.paths if self.now.get(p, b"") is not None))

    def discovery_before(self, discovery: Discovery) -> Discovery:
        """The same files under the names they had, and those deleted since."""
        old_names = {c.new: c.old for c in self.changes if c.new}
        paths = {old_names.get(path, path) for path in self.discovery_now(discovery).paths}
        deleted = {c.old for c in self.changes if not c.new}
        return replace(discovery, paths=tuple(sorted((paths | deleted) - {""})))


def read_change(root: Path, revision: str = "HEAD", *, staged: bool = False) -> Since:
    """The change from ``revision`` to the work tree, or from HEAD to the index if ``staged``. Raises GitError."""
    git = Git(root)
    now: dict[str, bytes | None] = {}
    if staged:
        base = git.head()
        changes = git.changes(base, staged=True)
        differing = [path for path in git.unstaged() if path.endswith(".py")]
        now.update(zip(differing, git.read_blobs(f":./{path}" for path in differing)))
        now.update(dict.fromkeys(path for path in git.untracked() if path.endswith(".py")))
    else:
        base = git.merge_base(revision)
        changes = git.changes(base) + [Change("", path) for path in git.untracked()]
    changes = [c for c in changes if (c.new or c.old).endswith(".py")]
    before: dict[str, bytes | None] = {**now, **dict.fromkeys(c.new for c in changes if c.new)}
    old = [c.old for c in changes if c.old]
    before.update(zip(old, git.read_blobs(f"{base}:./{path}" for path in old)))
    return Since(git, base, staged, tuple(changes), now, before)


def compare_states(now: Sequence[Finding], before: Sequence[Finding], since: Since) -> Compared:
    """Findings of now against those of before: renames are followed, and what moved to another file is not new."""
    new_names = {c.old: c.new for c in since.changes if c.old and c.new}
    known: Counter[Fingerprint] = Counter()
    for finding in before:
        path, *rest = finding.fingerprint
        known[new_names.get(path, path), rest[0], rest[1], rest[2]] += 1
    added = _AddedLines(since)
    compared = compare(now, known, age=lambda f: (added.has(f.path, f.span.line), f.sort_key))
    # A class cut out of one file and put into another takes its findings along.
    moved = Counter(f[1:] for f, times in compared.gone.items() for _ in range(times) if f[2])
    new, known_now = [], list(compared.known)
    for finding in compared.new:
        if moved[finding.fingerprint[1:]] > 0:
            moved[finding.fingerprint[1:]] -= 1
            known_now.append(finding)
        else:
            new.append(finding)
    return Compared(tuple(new), tuple(sorted(known_now, key=lambda f: f.sort_key)), compared.gone)


class _AddedLines:
    """Lines of a file that the change adds, asked of git only where several findings look the same."""

    def __init__(self, since: Since) -> None:
        self.since = since
        self.lines: dict[str, list[tuple[int, int]]] = {}
        self.old_names = {c.new: c.old for c in since.changes if c.new}

    def has(self, path: str, line: int) -> bool:
        old = self.old_names.get(path)
        if not old:
            return old == ""  # All of a new file, nothing of one that did not change.
        if path not in self.lines:
            both = list({path, old})
            found = self.since.git.added_lines(self.since.base, both, staged=self.since.staged)
            self.lines[path] = found.get(path, [])
        return any(first <= line <= last for first, last in self.lines[path])
