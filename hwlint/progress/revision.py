"""Where a report's files come from: the work tree, or the tree of a commit (all there is in a bare clone)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hwlint import globs
from hwlint.config import Settings
from hwlint.discover import Discovery
from hwlint.errors import UsageError
from hwlint.git import Git, GitError, find_top


def open_git(root: Path) -> Git | None:
    """The repository at or around ``root``, bare ones included; None where there is none, or no git."""
    git = Git(root)
    if find_top(root) is None and not is_bare(git):
        return None
    try:
        git.run("rev-parse", "--git-dir")
    except GitError:
        return None
    return git


def is_bare(git: Git) -> bool:
    try:
        return git.run("rev-parse", "--is-bare-repository").strip() == b"true"
    except GitError:
        return False


def prefix_of(git: Git) -> str:
    """The folder of ``git`` relative to the repository's root, with a slash at its end; '' for the root itself."""
    return os.fsdecode(git.run("rev-parse", "--show-prefix").rstrip(b"\n"))


@dataclass
class RevisionFiles(Mapping[str, "bytes | None"]):
    """The files of a commit as an overlay that leaves nothing of the disk visible."""

    git: Git
    files: dict[str, str]
    """Path -> name of the content."""
    contents: dict[str, bytes | None] = field(default_factory=dict)

    @classmethod
    def at(cls, git: Git, revision: str) -> RevisionFiles:
        return cls(git, git.files_at(revision))

    def load(self, paths: list[str]) -> None:
        """Read many files at once."""
        missing = [p for p in paths if p in self.files and p not in self.contents]
        self.contents.update(zip(missing, self.git.read_blobs(self.files[p] for p in missing)))

    def __contains__(self, path: object) -> bool:
        return True

    def __getitem__(self, path: str) -> bytes | None:
        if path not in self.contents and path in self.files:
            self.load([path])
        return self.contents.get(path)

    def get(self, path: str, default: bytes | None = None) -> bytes | None:  # type: ignore[override]
        return self[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __bool__(self) -> bool:
        """An overlay of nothing still hides the disk."""
        return True


def discover_at(files: RevisionFiles, paths: list[str], settings: Settings) -> Discovery:
    """The Python files of a commit that ``paths`` (relative to the root) name, or the configured ones.

    The counterpart of :func:`hwlint.discover.discover`. Raises UsageError for a path that the commit does not have.
    """
    wanted = [path.rstrip("/").removeprefix("./") or "." for path in paths]
    for path in wanted:
        if path != "." and path not in files.files and not any(name.startswith(f"{path}/") for name in files.files):
            raise UsageError(f"{path}: no such file or folder in that revision")
    found = []
    for name in files.files:
        if name in wanted and not settings.force_exclude:
            found.append(name)
        elif name.endswith(".py") and in_scope(name, wanted, settings):
            found.append(name)
    return Discovery(settings.root, tuple(sorted(found)), frozenset(wanted) & frozenset(files.files))


def in_scope(path: str, wanted: list[str], settings: Settings) -> bool:
    """Whether a run on ``wanted``, relative to the root and '.' for all of it, looks at ``path``; the configured
    paths where empty.
    """
    if globs.matches(path, settings.exclude) and not (path in wanted and not settings.force_exclude):
        return False
    if not wanted:
        return not settings.include or globs.matches(path, settings.include, anchored=True)
    return any(w == "." or path == w or path.startswith(f"{w}/") for w in wanted)
