"""``hwlint baseline``: record today's findings, so that only new ones fail."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwlint.cli import FINDINGS, INTERNAL_ERROR, OK
from hwlint.cli.checking import note_crashes, read_allowlist, run_check
from hwlint.cli.common import PATH, RunOptions, absolute, open_project, run_options
from hwlint.cli.output import note, write_output
from hwlint.discover import Discovery
from hwlint.engine import Tree
from hwlint.errors import UsageError
from hwlint.output.summary import plural
from hwlint.rules.registry import rules_for

if TYPE_CHECKING:
    from hwlint.baseline import Fingerprint


@click.command("baseline")
@run_options
@click.option("--baseline", type=PATH, help="The file; default: the configured one.")
@click.option("--write", is_flag=True, help="Record the findings of today.")
@click.option("--check", is_flag=True, help="Say what is recorded and found no more (default).")
def baseline(run: RunOptions, baseline: Path | None, write: bool, check: bool) -> int:
    """Record the findings of today, or say which recorded ones are gone.

    With PATHS, only the records of the files among them are looked at and written.

    Exit status: 0 written, or nothing recorded is gone; 1 something is, and the file can be written anew.
    """
    if check and write:
        raise click.UsageError("--check and --write exclude each other")
    from hwlint.baseline import Baseline, load_baseline, record, save_baseline

    project = open_project(run, baseline=absolute(baseline))
    settings = project.settings
    if not settings.baseline:
        raise UsageError("which baseline? Give --baseline FILE, or set 'baseline' in [tool.hwlint]")
    file = settings.resolve(settings.baseline)
    checked = run_check(run, project, rules_for(settings), allowlist=read_allowlist(settings))
    note_crashes(checked.crashes, run)
    if checked.crashes:
        return INTERNAL_ERROR
    found = record(checked.findings).counts
    recorded = Baseline() if write and not file.exists() else load_baseline(file)
    kept = _of_other_files(recorded.counts, run, project.discovery)
    if write:
        save_baseline(file, Baseline(found + kept))
        if not run.quiet:
            note(f"{file.name}: {plural(sum((found + kept).values()), 'finding')} recorded")
        return OK
    gone = recorded.counts - kept - found
    write_output("".join(_row(fingerprint, times) for fingerprint, times in sorted(gone.items())), utf8=False)
    if gone and not run.quiet:
        note(f"{plural(sum(gone.values()), 'recorded finding')} gone: write the baseline anew")
    return FINDINGS if gone else OK


def _of_other_files(recorded: Counter[Fingerprint], run: RunOptions, discovery: Discovery) -> Counter[Fingerprint]:
    """Records that the run says nothing about: of files that are there and not among its own."""
    if not run.paths:
        return Counter()
    tree, checked = Tree(discovery.root), set(discovery.paths)
    return Counter({f: n for f, n in recorded.items() if f[0] not in checked and tree.exists(f[0])})


def _row(fingerprint: Fingerprint, times: int) -> str:
    path, code, symbol, detail = fingerprint
    about = " ".join(filter(None, (symbol, detail)))
    return f"{path}: {code} {about}" + (f" ({times} times)\n" if times > 1 else "\n")
