"""The check that ``check``, ``allowlist`` and ``baseline`` run, with its cache and its allowlist."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hwlint.cache import Cache
from hwlint.check import Checked, check
from hwlint.cli.common import Project, RunOptions, open_cache, progress_bar
from hwlint.cli.output import note
from hwlint.config import Settings
from hwlint.discover import Discovery
from hwlint.engine import Overlay, Progress, Tree, remembered
from hwlint.findings import Finding
from hwlint.report import Crash
from hwlint.rules.base import Rule
from hwlint.rules.files import StaleAllowlistEntry, stale_entry

if TYPE_CHECKING:
    from hwlint.allowlist import Allowlist, StaleEntry


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks files, as they are or with contents laid over them."""

    settings: Settings
    rules: tuple[type[Rule], ...]
    cache: Cache
    allowlist: Allowlist | None = None
    suppress: bool = True
    progress: Progress | None = None

    def __call__(self, discovery: Discovery, overlay: Overlay) -> Checked:
        """What the rules say of the files, stale entries of the allowlist among it."""
        listed = self.allowlist.paths if self.allowlist is not None else frozenset()
        checked = remembered(
            partial(check, rules=self.rules, passed_over=listed, suppress=self.suppress),
            Checked,
            ("check", self.suppress, sorted(listed)),
            self.settings,
            discovery,
            cache=self.cache,
            overlay=overlay,
            progress=self.progress,
        )
        if StaleAllowlistEntry not in self.rules:
            return checked
        found = (*checked.findings, *self._stale(checked, discovery, overlay))
        return replace(checked, findings=tuple(sorted(found, key=lambda f: f.sort_key)))

    def _stale(self, checked: Checked, discovery: Discovery, overlay: Overlay) -> Iterator[Finding]:
        if self.allowlist is not None:
            # A run on single files, as a hook makes, says nothing of the entries for others.
            known = set(discovery.paths) if discovery.named else None
            for stale in stale_in_run(self.allowlist, checked.clean, Tree(discovery.root, overlay), known):
                yield stale_finding(self.settings, stale)


def stale_in_run(
    allowlist: Allowlist, clean: Collection[str], tree: Tree, known: Collection[str] | None = None
) -> Iterator[StaleEntry]:
    """Entries that should go or move; only those for the files ``known``, where that is given."""
    from hwlint.allowlist import stale_entries

    clean = set(clean)
    for stale in stale_entries(allowlist, is_clean=clean.__contains__, exists=tree.exists):
        if known is None or stale.entry.path in known:
            yield stale


def stale_finding(settings: Settings, stale: StaleEntry) -> Finding:
    place = os.path.relpath(settings.resolve(settings.allowlist), settings.root)
    return stale_entry(Path(place).as_posix(), stale.entry.line, stale.entry.path, stale.why)


def read_allowlist(settings: Settings) -> Allowlist | None:
    """The configured allowlist, None where there is none. Raises ConfigError."""
    if not settings.allowlist:
        return None
    from hwlint.allowlist import load_allowlist

    return load_allowlist(settings.resolve(settings.allowlist))


def run_check(
    run: RunOptions,
    project: Project,
    rules: tuple[type[Rule], ...],
    *,
    allowlist: Allowlist | None = None,
    suppress: bool = True,
) -> Checked:
    """Check the project's files as they are."""
    with open_cache(run, project.settings) as cache, progress_bar(run) as progress:
        checker = Checker(project.settings, rules, cache, allowlist, suppress, progress)
        checked = checker(project.discovery, {})
    return checked


def note_crashes(crashes: Collection[Crash], run: RunOptions) -> None:
    """Internal errors on standard error, with the file each is about."""
    for crash in crashes:
        note(f"internal error: {crash.path}: {crash.stage}: {crash.message}")
        if run.verbose and crash.traceback:
            note(crash.traceback.rstrip())
    if crashes and not run.verbose:
        note("please report this, with what --verbose says")
