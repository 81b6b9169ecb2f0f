"""A survey with what is known around the test files -> a snapshot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

from hwlint import __version__
from hwlint.config import Settings
from hwlint.progress.codeowners import CodeOwners
from hwlint.progress.groups import DEFAULT_GROUPS, DEFAULT_REST, group_of
from hwlint.progress.model import Origin, Snapshot, StaleEntry
from hwlint.progress.steps import next_step
from hwlint.progress.survey import Survey

NO_OWNERS = CodeOwners()


def build_snapshot(
    surveyed: Survey,
    settings: Settings,
    origin: Origin,
    *,
    code_owners: CodeOwners = NO_OWNERS,
    allowlist: Iterable[str] | None = None,
    exists: Callable[[str], bool] = lambda path: True,
    to_repository: Callable[[str], str] = lambda path: path,
) -> Snapshot:
    """Put groups, owners, the allowlist and the next step to the files of a survey.

    ``allowlist``: the paths that it names, None where there is none. ``exists`` tells whether one that was not surveyed
    is there. ``to_repository`` turns a path relative to the settings' root into one relative to the repository, as
    CODEOWNERS has them.
    """
    listed = frozenset(allowlist or ())
    files = []
    for file in surveyed.files:
        known = replace(
            file,
            group=group_of(file.path, settings.progress.groups),
            code_owners=code_owners.owners_of(to_repository(file.path)),
            allowlisted=file.path in listed,
        )
        files.append(replace(known, step=next_step(known)))
    clean = {file.path for file in files if file.clean}
    stale = [StaleEntry(path, "clean") for path in listed & clean]
    stale += [StaleEntry(path, "missing") for path in listed - {file.path for file in files} if not exists(path)]
    return Snapshot(
        origin=replace(origin, hwlint=__version__, settings=settings_shown(settings)),
        files=tuple(files),
        allowlist=settings.allowlist if allowlist is not None else "",
        allowlist_entries=len(listed),
        stale=tuple(sorted(stale, key=lambda s: s.path)),
    )


def settings_shown(settings: Settings) -> tuple[tuple[str, str], ...]:
    """The settings that change what a report says, as text."""
    groups = dict(settings.progress.groups or DEFAULT_GROUPS)
    rest = "" if settings.progress.groups else f" (else {DEFAULT_REST})"
    shown = {
        "allowlist": settings.allowlist,
        "backends": ", ".join(b.name for b in settings.backends),
        "confidence": settings.migrate.confidence,
        "exclude": ", ".join(settings.exclude),
        "groups": json.dumps({name: list(groups[name]) for name in sorted(groups)}) + rest,
        "ignore": ", ".join(settings.ignore),
        "include": ", ".join(settings.include),
        "select": ", ".join(settings.select),
        "test-files": ", ".join(settings.test_files),
        "torch": settings.torch,
    }
    return tuple((name, value) for name, value in sorted(shown.items()) if value)
