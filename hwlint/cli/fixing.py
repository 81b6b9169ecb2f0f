"""``check --fix`` and the replacements that lintrunner applies: the safe changes of the codemods."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hwlint.cli.common import Project
from hwlint.cli.output import note
from hwlint.discover import Discovery
from hwlint.findings import Finding

if TYPE_CHECKING:
    from codemods.pipeline import Outcome
    from hwlint.cache import Cache
    from hwlint.engine import Overlay


def fix_files(project: Project, findings: Iterable[Finding], cache: Cache) -> list[str]:
    """Write the safe changes into the files with findings that have one: the paths that were written.

    A file that cannot be written, or that changed meanwhile, is named on standard error.
    """
    from codemods.write import write_files

    outcomes = _outcomes(project, findings, cache, None)
    written, unwritten = write_files(project.discovery.root, outcomes, allow_dirty=True)
    for one in unwritten:
        note(f"{one.path}: not fixed: {one.why}")
    return written


def replacements(
    project: Project, findings: Iterable[Finding], cache: Cache, overlay: Overlay | None
) -> dict[str, tuple[str, str]]:
    """Text of each file with safe changes before and after them, by path; only files in UTF-8, as lintrunner wants."""
    found: dict[str, tuple[str, str]] = {}
    for outcome in _outcomes(project, findings, cache, overlay):
        if outcome.changed:
            try:
                found[outcome.path] = (outcome.before.decode(), outcome.after.decode())
            except UnicodeDecodeError:
                continue
    return found


def _outcomes(
    project: Project, findings: Iterable[Finding], cache: Cache, overlay: Overlay | None
) -> tuple[Outcome, ...]:
    paths = sorted({f.path for f in findings if f.fix is not None and f.fix.applicability == "safe"})
    if not paths:
        return ()
    from codemods.run import migrate

    discovery = Discovery(project.discovery.root, tuple(paths), frozenset(paths))
    outcomes = migrate(project.settings, discovery, cache=cache, overlay=overlay).outcomes
    for outcome in outcomes:
        if outcome.crash:
            note(f"internal error: {outcome.path}: not fixed ({outcome.crash.strip().splitlines()[-1]})")
    return outcomes
