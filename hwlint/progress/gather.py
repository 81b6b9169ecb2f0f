"""From a folder, or a commit, to a snapshot and its history: the steps that touch files and git."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from hwlint.cache import Cache
from hwlint.catalog import load_catalog
from hwlint.config import Settings
from hwlint.discover import Discovery
from hwlint.engine import Progress, remembered
from hwlint.errors import ConfigError
from hwlint.git import EMPTY_TREE, Git
from hwlint.progress.build import build_snapshot
from hwlint.progress.codeowners import PLACES, CodeOwners, read_code_owners
from hwlint.progress.groups import group_of
from hwlint.progress.history.commits import iso
from hwlint.progress.history.course import Course, Scope, from_git
from hwlint.progress.history.rows import Rows
from hwlint.progress.model import Origin, Snapshot
from hwlint.progress.revision import RevisionFiles, in_scope, prefix_of
from hwlint.progress.survey import Judge, Survey, survey


@dataclass(frozen=True, slots=True)
class Source:
    """What a report is made from."""

    settings: Settings
    discovery: Discovery
    git: Git | None = None
    """At the settings' root; None where there is no git."""
    revision: str = ""
    """The commit, '' before the first one or without git."""
    files: RevisionFiles | None = None
    """The commit's files where those are the ones to look at; None for the files on disk."""
    paths: tuple[str, ...] = ()
    """What the command line named, relative to the root."""


def take_snapshot(
    source: Source,
    judge: Judge,
    cache: Cache,
    *,
    jobs: int = 0,
    date: str | None = None,
    progress: Progress | None = None,
) -> Snapshot:
    """The state of the source's test files. ``date`` in place of the commit's. Raises ConfigError for a broken
    allowlist.
    """
    settings = replace(source.settings, level="full", select=())
    if source.files is not None:
        source.files.load(list(source.discovery.paths))
    surveyed = remembered(
        partial(survey, judge=judge),
        Survey,
        ("progress",),
        settings,
        source.discovery,
        jobs=jobs,
        cache=cache,
        overlay=source.files,
        progress=progress,
    )
    prefix = prefix_of(source.git) if source.git is not None else ""
    return build_snapshot(
        surveyed,
        settings,
        Origin(
            revision=source.revision,
            date=date if date is not None else _commit_date(source),
            modified=source.files is None and _is_modified(source),
            paths=source.paths,
        ),
        code_owners=_code_owners(source),
        allowlist=_allowlist(source),
        exists=_exists(source),
        to_repository=lambda path: prefix + path,
    )


def take_course(
    source: Source,
    cache: Cache,
    *,
    since: str = "",
    every: str = "week",
    jobs: int = 0,
    progress: Progress | None = None,
) -> Course:
    """The history of the source's files up to its commit; the source must have git. Raises UsageError."""
    assert source.git is not None
    settings = source.settings
    rows = Rows(source.git, load_catalog(settings.backends), cache, jobs or settings.jobs or os.cpu_count() or 1)
    wanted = list(source.paths)
    scope = Scope(
        is_test_file=lambda path: settings.is_test_file(path) and in_scope(path, wanted, settings),
        group_of=lambda path: group_of(path, settings.progress.groups),
        allowlist=_allowlist_path(settings) if settings.allowlist else "",
        read_allowlist=read_listed,
    )
    return from_git(source.git, rows, scope, source.revision, since=since, every=every, report=progress)


def read_listed(content: bytes) -> frozenset[str] | None:
    """The paths that an allowlist names, as upstream reads it (``set(json.load(file))``); None where it is no such
    list.
    """
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except ValueError:
        return None
    if not isinstance(found, (list, dict)) or not all(isinstance(path, str) for path in found):
        return None
    return frozenset(found)


def _commit_date(source: Source) -> str:
    if source.git is None or not source.revision:
        return ""
    return iso(int(source.git.run("log", "-1", "--format=%ct", source.revision, "--")))


def _is_modified(source: Source) -> bool:
    if source.git is None:
        return False
    changes = source.git.changes(source.revision or EMPTY_TREE)
    differing = {path for change in changes for path in (change.old, change.new)} | set(source.git.untracked())
    wanted = list(source.paths)
    relevant = {_allowlist_path(source.settings)} if source.settings.allowlist else set()
    return any(p in relevant or (p.endswith(".py") and in_scope(p, wanted, source.settings)) for p in differing)


def _code_owners(source: Source) -> CodeOwners:
    if source.files is not None:
        assert source.git is not None
        contents = source.git.read_blobs(f"{source.revision}:{place}" for place in PLACES)
        content = next((c for c in contents if c is not None), None)
    else:
        content = next(filter(None, map(_read, _places(source))), None)
    return read_code_owners(content.decode("utf-8", "replace")) if content else CodeOwners()


def _places(source: Source) -> list[Path]:
    root = source.settings.root
    top = root if source.git is None else root / os.fsdecode(source.git.run("rev-parse", "--show-cdup").strip())
    return [top / place for place in PLACES]


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _allowlist_path(settings: Settings) -> str:
    """The allowlist's path relative to the root."""
    return Path(os.path.relpath(settings.resolve(settings.allowlist), settings.root)).as_posix()


def _allowlist(source: Source) -> frozenset[str] | None:
    """What the allowlist names, None where none is configured or the commit has none. Raises ConfigError."""
    settings = source.settings
    if not settings.allowlist:
        return None
    if source.files is None:
        from hwlint.allowlist import load_allowlist

        return load_allowlist(settings.resolve(settings.allowlist)).paths
    content = source.files[_allowlist_path(settings)]
    if content is None:
        return None
    listed = read_listed(content)
    if listed is None:
        raise ConfigError(f"{settings.allowlist}: the allowlist of {source.revision[:12]} is no JSON list of paths")
    return listed


def _exists(source: Source) -> Callable[[str], bool]:
    files = source.files
    if files is not None:
        return lambda path: path in files.files
    return lambda path: (source.settings.root / path).is_file()
