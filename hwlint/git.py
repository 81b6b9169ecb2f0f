"""The git command line, as far as hwlint needs it. Paths are relative to the folder the repository object is made for.

Nothing here changes a repository. A git that fails is a GitError with git's own words; whether that matters is the
caller's to say.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hwlint.errors import UsageError

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Name that git gives a tree without files: what a repository without a commit is compared with."""
REGULAR = ("100644", "100755")


class GitError(UsageError):
    """git is not there, or said no."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file that differs: ``old`` is '' for a new one, ``new`` for a deleted one; a renamed one has both."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Git:
    """The work tree at or around ``folder``."""

    folder: Path

    def run(self, *arguments: str, data: bytes | None = None) -> bytes:
        """Standard output of one git command. Raises GitError."""
        import subprocess  # A run on named files needs no git.

        # Optional locks off: a look at the status must not get in the way of the user's own git.
        environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_PAGER": "cat"}
        command = ["git", "-C", str(self.folder), *arguments]
        try:
            done = subprocess.run(command, input=data, capture_output=True, env=environment, check=False)
        except OSError as error:
            raise GitError(f"git cannot be run: {error.strerror or error}") from None
        if done.returncode != 0:
            words = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
            raise GitError(
                f"git {arguments[0]}: {words.splitlines()[0] if words else f'exit status {done.returncode}'}"
            )
        return done.stdout

    def list_files(self, *folders: str) -> list[str]:
        """Tracked files, and new ones that are not ignored, below ``folders`` (all where none is given)."""
        output = self.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *map(_literal, folders))
        return list(dict.fromkeys(_names(output)))

    def is_ignored(self, path: str) -> bool:
        try:
            self.run("check-ignore", "-q", "--", path)
        except GitError:
            return False
        return True

    def untracked(self) -> list[str]:
        return _names(self.run("ls-files", "-z", "--others", "--exclude-standard"))

    def resolve(self, revision: str) -> str:
        """The commit that ``revision`` names. Raises GitError where there is none."""
        if revision.startswith("-"):
            raise GitError(f"{revision!r} is no revision")
        try:
            return self.run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").decode().strip()
        except GitError:
            self.run("rev-parse", "--git-dir")  # No repository is another error than no such revision.
            raise GitError(f"there is no revision {revision!r} here") from None

    def merge_base(self, revision: str, other: str = "HEAD") -> str:
        """The commit that both come from; ``revision`` itself where history does not reach it (a shallow clone)."""
        commit = self.resolve(revision)
        try:
            return self.run("merge-base", commit, other).decode().split()[0]
        except GitError:
            return commit

    def head(self) -> str:
        """HEAD's commit, the empty tree before the first one."""
        try:
            return self.resolve("HEAD")
        except GitError:
            self.run("rev-parse", "--git-dir")
            return EMPTY_TREE

    def changes(self, revision: str, *, staged: bool = False) -> list[Change]:
        """Files in which the work tree (the index, if ``staged``) differs from ``revision``, renames detected.

        Files that git does not track are not among them; see :meth:`untracked`.
        """
        options = ["--cached"] if staged else []
        output = self.run(
            "diff", *options, "-z", "--name-status", "--find-renames", "--no-ext-diff", "--relative", revision, "--"
        )
        return list(_changes(_names(output)))

    def unstaged(self) -> list[str]:
        """Files in which the work tree differs from the index."""
        return _names(self.run("diff", "-z", "--name-only", "--no-ext-diff", "--no-renames", "--relative", "--"))

    def is_dirty(self, paths: Sequence[str]) -> list[str]:
        """Those of ``paths`` that have changes not committed, or are not tracked."""
        if not paths:
            return []
        output = self.run(
            "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--", *map(_literal, paths)
        )
        # Status counts from the top of the repository, whatever the folder.
        prefix = os.fsdecode(self.run("rev-parse", "--show-prefix").rstrip(b"\n"))
        return [name[3:].removeprefix(prefix) for name in _names(output)]

    def added_lines(
        self, revision: str, paths: Sequence[str], *, staged: bool = False
    ) -> dict[str, list[tuple[int, int]]]:
        """The stretches of lines (first, last) of each path that ``revision`` does not have.

        Of a renamed file, give both paths.
        """
        if not paths:
            return {}
        options = ["--cached"] if staged else []
        options += ["--unified=0", "--find-renames", "--no-ext-diff", "--no-color", "--no-prefix", "--relative"]
        where = map(_literal, paths)
        return _added_lines(self.run("-c", "core.quotePath=false", "diff", *options, revision, "--", *where))

    def files_at(self, revision: str) -> dict[str, str]:
        """Path -> object name of the regular files in ``revision``."""
        found = {}
        for entry in self.run("ls-tree", "-r", "-z", revision).split(b"\0"):
            if entry:
                mode, _, rest = entry.decode("utf-8", "surrogateescape").partition(" ")
                kind_and_name, _, path = rest.partition("\t")
                if mode in REGULAR:
                    found[path] = kind_and_name.partition(" ")[2]
        return found

    def read_blobs(self, objects: Iterable[str]) -> Iterator[bytes | None]:
        """Content of each object ('REV:./path', ':./path', an object name), None for one that is not there.

        One git process for all of them.
        """
        names = list(objects)
        if not names:
            return
        # A name with a line break cannot be asked for in the batch.
        safe = [name if "\n" not in name else "" for name in names]
        output = self.run("cat-file", "--batch", data=b"".join(os.fsencode(name) + b"\n" for name in safe))
        at = 0
        for _ in names:
            end = output.index(b"\n", at)
            header = output[at:end].split(b" ")
            at = end + 1
            if len(header) < 3 or header[-2] not in (b"blob", b"tree", b"commit", b"tag"):
                yield None
                continue
            size = int(header[-1])
            yield output[at : at + size] if header[-2] == b"blob" else None
            at += size + 1


def find_top(start: Path) -> Path | None:
    """The folder at or above ``start`` that is a repository's work tree, without asking git."""
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return None


def _names(output: bytes) -> list[str]:
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def _literal(path: str) -> str:
    return f":(literal){path}"


def _changes(fields: list[str]) -> Iterator[Change]:
    rest = iter(fields)
    for status in rest:
        name = next(rest)
        if status.startswith("R"):
            yield Change(name, next(rest))
        elif status.startswith("C"):
            yield Change("", next(rest))
        elif status.startswith("A"):
            yield Change("", name)
        elif status.startswith("D"):
            yield Change(name, "")
        else:
            yield Change(name, name)


def _added_lines(output: bytes) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    path, skip = "", 0
    for line in output.split(b"\n"):
        if skip and line[:1] in (b"+", b"-"):  # A line of the file; it may look like a header.
            skip -= 1
        elif line.startswith(b"+++ "):
            path = os.fsdecode(line[4:].rstrip(b"\t\r"))
        elif line.startswith(b"@@ "):
            removed, added = (part.lstrip(b"+-").split(b",") for part in line.split(b" ")[1:3])
            sizes = [int(part[1]) if len(part) > 1 else 1 for part in (removed, added)]
            skip = sum(sizes)
            if sizes[1]:
                first = int(added[0])
                found.setdefault(path, []).append((first, first + sizes[1] - 1))
    return found
