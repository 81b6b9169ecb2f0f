"""The commits of a history, the one of them each period ends with, and what changes from one to the next."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from hwlint.errors import UsageError
from hwlint.git import REGULAR, Git

UTC = timezone.utc


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, with the time it was made (seconds since 1970; the committer's, not the author's)."""

    name: str
    time: int

    @property
    def date(self) -> str:
        return iso(self.time)


@dataclass(frozen=True, slots=True)
class Commits:
    """A branch's own commits, oldest first; ``complete`` is False where a shallow clone cuts them off."""

    commits: tuple[Commit, ...]
    complete: bool = True


def iso(seconds: int) -> str:
    """'2026-08-22T10:00:00Z'."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_date(text: str) -> int | None:
    """Seconds since 1970 of an ISO date ('2026-08-22', with or without a time; UTC where it names no zone); None for
    no such.
    """
    try:
        found = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text.strip()))
    except ValueError:
        return None
    return int((found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp())


def list_commits(git: Git, revision: str, since: str = "") -> Commits:
    """Commits from ``since`` (a date, or a revision, which is the first of them) to ``revision``, along first parents.

    A merge is one step: the branch's state before and after it. Raises UsageError for a ``since`` that is neither.
    """
    start = _boundary(git, since)
    spans = [revision] if not isinstance(start, str) else [f"{start}..{revision}"]
    output = git.run("log", "--first-parent", "--reverse", "--format=%H %ct", *spans, "--").decode("ascii")
    commits = [Commit(name, int(time)) for name, time in (line.split() for line in output.splitlines())]
    if isinstance(start, str):
        time = int(git.run("log", "-1", "--format=%ct", start, "--"))
        commits.insert(0, Commit(start, time))
    elif start is not None:
        commits = [c for c in commits if c.time >= start]
    return Commits(tuple(commits), complete=not _is_cut_off(git, commits))


def _boundary(git: Git, since: str) -> str | int | None:
    if not since:
        return None
    date = read_date(since)
    if date is not None:
        return date
    try:
        return git.resolve(since)
    except UsageError:
        raise UsageError(f"--since {since!r}: neither a date such as 2026-08-22 nor a revision") from None


def _is_cut_off(git: Git, commits: Sequence[Commit]) -> bool:
    """Whether the oldest of ``commits`` is where a shallow clone ends."""
    if not commits or git.run("rev-parse", "--is-shallow-repository").strip() != b"true":
        return False
    # The parents that a shallow clone hides are still written in the commit itself.
    written = re.findall(
        rb"^parent ", git.run("cat-file", "commit", commits[0].name).partition(b"\n\n")[0], re.MULTILINE
    )
    known = git.run("rev-list", "--parents", "-n", "1", commits[0].name).split()
    return len(written) > len(known) - 1


def sample(commits: Sequence[Commit], every: str) -> tuple[Commit, ...]:
    """The last commit of each 'week' (from Monday) or 'month', in UTC; for a number N each N-th, counted from the
    newest.

    The first and the last are always among them. Raises UsageError for another ``every``.
    """
    if not commits:
        return ()
    if every in ("week", "month"):
        kept: dict[tuple[int, int], Commit] = {}
        for commit in commits:
            kept[_period(commit.time, every)] = commit
        chosen = set(kept.values())
    elif every.isdecimal() and int(every) > 0:
        chosen = set(commits[:: -int(every)])
    else:
        raise UsageError(f"--every {every!r}: must be 'week', 'month' or a number of commits")
    chosen |= {commits[0], commits[-1]}
    return tuple(c for c in commits if c in chosen)


def _period(time: int, every: str) -> tuple[int, int]:
    when = datetime.fromtimestamp(time, UTC)
    if every == "month":
        return when.year, when.month
    week = when.isocalendar()
    return week[0], week[1]


Blobs = dict[str, str]
"""Path -> name of its content; '' for a path that is gone."""


def walk(git: Git, commits: Sequence[Commit], wanted: Sequence[str]) -> Iterator[tuple[Commit, Blobs]]:
    """For each commit what differs from the one before; for the first, all. ``wanted``: pathspecs.

    Two git processes in all.
    """
    if not commits:
        return
    first = commits[0]
    yield first, _tree(git, first.name)
    pairs = "".join(f"{new.name} {old.name}\n" for old, new in zip(commits, commits[1:]))
    output = git.run(
        "diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--relative", "--", *wanted, data=pairs.encode()
    )
    changes: dict[str, Blobs] = {}
    current: Blobs = {}
    fields = iter(output.split(b"\0"))
    for field in fields:
        if not field.startswith(b":"):
            if field:
                current = changes.setdefault(field.decode("ascii"), {})
            continue
        _, mode, _, blob, _ = field.decode("ascii").split(" ")
        path = os.fsdecode(next(fields))
        current[path] = blob if mode in REGULAR else ""
    for commit in commits[1:]:
        yield commit, changes.get(commit.name, {})


def _tree(git: Git, revision: str) -> Blobs:
    return dict(git.files_at(revision))
