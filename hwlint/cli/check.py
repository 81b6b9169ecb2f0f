"""``hwlint check``."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwlint.check import Checked
from hwlint.cli import FINDINGS, INTERNAL_ERROR, OK
from hwlint.cli.checking import Checker, note_crashes, read_allowlist
from hwlint.cli.common import (
    PATH,
    Project,
    RunOptions,
    absolute,
    open_cache,
    open_project,
    output_options,
    progress_bar,
    run_options,
    split_codes,
)
from hwlint.cli.output import note, use_color, write_output
from hwlint.findings import Finding
from hwlint.output import FORMATS, PLAIN_FORMATS, render
from hwlint.output.source import Sources
from hwlint.output.view import View
from hwlint.report import Report, Statistics
from hwlint.rules.registry import rules_for

if TYPE_CHECKING:
    from hwlint.since import Since


@click.command("check")
@run_options
@output_options(FORMATS)
@click.option("--select", multiple=True, metavar="CODES", help="Rules to run, by code or its beginning: HW1,HW201.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Rules not to run.")
@click.option("--since", metavar="REV", help="Report only what is new since the branch left REV.")
@click.option("--staged", is_flag=True, help="Check what is staged, and report only what is new since HEAD.")
@click.option("--allowlist", type=PATH, help="JSON list of files to pass over, as PyTorch's linter has it.")
@click.option("--baseline", type=PATH, help="Recorded findings, which are not reported.")
@click.option("--no-baseline", is_flag=True, help="Report recorded findings too.")
@click.option("--no-suppress", is_flag=True, help="Report what comments suppress, too.")
@click.option("--statistics", is_flag=True, help="Counts by rule in place of findings (text and concise).")
@click.option("--fix", is_flag=True, help="Make the safe changes first, and report what is left.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
def check(
    run: RunOptions,
    format_name: str,
    output: Path | None,
    color: bool | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    since: str | None,
    staged: bool,
    allowlist: Path | None,
    baseline: Path | None,
    no_baseline: bool,
    no_suppress: bool,
    statistics: bool,
    fix: bool,
    exit_zero: bool,
) -> int:
    """Report what is wrong with test classes and the devices they use.

    PATHS are files or folders; @FILE stands for the paths that FILE lists, one a line. Without any, the configured
    ones are checked, else the current folder.

    Exit status: 0 nothing but notes, 1 an error or a warning, 2 hwlint could not do what was asked, 3 an internal
    error. With --format lintrunner, findings too are 0, as lintrunner asks.
    """
    if since is not None and staged:
        raise click.UsageError("--since and --staged exclude each other")
    if fix and staged:
        raise click.UsageError("--fix changes files, and --staged looks at the index: use the hwlint-migrate hook")
    started = time.monotonic()
    project = open_project(
        run,
        select=split_codes(select),
        ignore=split_codes(ignore),
        allowlist=absolute(allowlist),
        baseline="" if no_baseline else absolute(baseline),
    )
    report = _report(run, project, since=since, staged=staged, suppress=not no_suppress)
    fixed: list[str] = []
    if fix:
        fixed = _fix(run, project, report)
        if fixed:
            report = _report(run, project, since=since, staged=staged, suppress=not no_suppress)
    view = View(
        Sources(report.root, report.contents),
        color=use_color(color, output),
        statistics=statistics,
        # A pipe gets findings, and nothing where there are none.
        summary=not run.quiet and (bool(report.findings) or _is_watched(output)),
        replacements=_replacements(run, project, report) if format_name == "lintrunner" else {},
    )
    write_output(render(format_name, report, view), output, utf8=format_name not in PLAIN_FORMATS)
    note_crashes(report.crashes, run)
    if fixed and not run.quiet:
        note(f"fixed {len(fixed)} file{'s' if len(fixed) != 1 else ''}: {', '.join(fixed)}")
    if run.verbose:
        note(f"{report.statistics.files} files in {time.monotonic() - started:.2f} s")
    if report.crashes:
        return INTERNAL_ERROR
    return FINDINGS if report.failing and not exit_zero and format_name != "lintrunner" else OK


def _fix(run: RunOptions, project: Project, report: Report) -> list[str]:
    from hwlint.cli.fixing import fix_files

    with open_cache(run, project.settings) as cache:
        return fix_files(project, report.findings, cache)


def _replacements(run: RunOptions, project: Project, report: Report) -> dict[str, tuple[str, str]]:
    from hwlint.cli.fixing import replacements

    with open_cache(run, project.settings) as cache:
        return replacements(project, report.findings, cache, dict(report.contents))


def _is_watched(output: Path | None) -> bool:
    return output is None and sys.stdout.isatty()


def _report(run: RunOptions, project: Project, *, since: str | None, staged: bool, suppress: bool) -> Report:
    settings = project.settings
    rules = rules_for(settings)
    allowlist = read_allowlist(settings)
    with open_cache(run, settings) as cache, progress_bar(run) as progress:
        checker = Checker(settings, rules, cache, allowlist, suppress, progress)
        change: Since | None = None
        unchanged: tuple[Finding, ...] = ()
        if since is None and not staged:
            checked = checker(project.discovery, {})
        else:
            change, checked, unchanged = _changed(checker, project, since or "HEAD", staged)
    found, recorded = _against_baseline(project, checked.findings, unchanged)
    return Report(
        findings=found,
        root=settings.root,
        level=settings.level,
        statistics=Statistics(
            files=checked.files,
            suppressed=checked.suppressed,
            ignored=checked.ignored,
            allowlisted=checked.passed_over,
            baselined=recorded,
            unchanged=len(unchanged),
        ),
        crashes=checked.crashes,
        rules=rules,
        revision="" if change is None else since or "HEAD",
        contents={} if change is None else {path: data for path, data in change.now.items() if data is not None},
    )


def _changed(
    checker: Checker, project: Project, revision: str, staged: bool
) -> tuple[Since, Checked, tuple[Finding, ...]]:
    """The change, the check of today with only its new findings, and the findings that are not new."""
    from dataclasses import replace

    from hwlint.since import compare_states, read_change

    change = read_change(project.settings.root, revision, staged=staged)
    now = checker(change.discovery_now(project.discovery), change.now)
    before = checker(change.discovery_before(project.discovery), change.before)
    compared = compare_states(now.findings, before.findings, change)
    return change, replace(now, findings=compared.new), compared.known


def _against_baseline(
    project: Project, findings: tuple[Finding, ...], unchanged: tuple[Finding, ...]
) -> tuple[tuple[Finding, ...], int]:
    """The findings that the baseline does not record, and the number of those it does."""
    if not project.settings.baseline:
        return findings, 0
    from hwlint.baseline import compare, load_baseline

    known = load_baseline(project.settings.resolve(project.settings.baseline)).counts
    # What was there at the other revision uses up its record first.
    compared = compare(findings, known - Counter(f.fingerprint for f in unchanged))
    return compared.new, len(compared.known)
