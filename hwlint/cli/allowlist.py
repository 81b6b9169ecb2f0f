"""``hwlint allowlist``: keep the list of files that are not yet migrated honest, and let it only get shorter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from hwlint.cli import FINDINGS, INTERNAL_ERROR, OK
from hwlint.cli.checking import note_crashes, run_check, stale_finding, stale_in_run
from hwlint.cli.common import PATH, Project, RunOptions, absolute, open_project, output_options, run_options
from hwlint.cli.output import note, use_color, write_output
from hwlint.engine import Tree
from hwlint.errors import UsageError
from hwlint.output import FORMATS, PLAIN_FORMATS, render
from hwlint.output.source import Sources
from hwlint.output.summary import plural
from hwlint.output.view import View
from hwlint.report import Report, Statistics
from hwlint.rules.files import StaleAllowlistEntry
from hwlint.rules.registry import rules_for


@click.command("allowlist")
@run_options
@output_options(FORMATS)
@click.option("--allowlist", type=PATH, help="The list; default: the configured one.")
@click.option("--check", is_flag=True, help="Say which entries are clean, missing, doubled or out of order (default).")
@click.option("--update", is_flag=True, help="Take such entries out, and sort the rest.")
@click.option("--add", is_flag=True, help="With --update: put in the files that upstream's linter fails.")
def allowlist(
    run: RunOptions,
    format_name: str,
    output: Path | None,
    color: bool | None,
    allowlist: Path | None,
    check: bool,
    update: bool,
    add: bool,
) -> int:
    """Check or update the list of files that PyTorch's own linter passes over.

    With PATHS, only entries for files among them are looked at. Judged is as that linter does (level upstream).

    Exit status: 0 the list is as it should be, or was updated; 1 it is not.
    """
    if check and update:
        raise click.UsageError("--check and --update exclude each other")
    if add and not update:
        raise click.UsageError("--add goes with --update")
    from hwlint.allowlist import load_allowlist, save_allowlist, updated

    project = open_project(replace(run, level="upstream"), allowlist=absolute(allowlist))
    settings = replace(project.settings, select=(), ignore=(), per_file_ignores=())
    if not settings.allowlist:
        raise UsageError("which allowlist? Give --allowlist FILE, or set 'allowlist' in [tool.hwlint]")
    file = settings.resolve(settings.allowlist)
    listed = load_allowlist(file)
    known = set(project.discovery.paths) if run.paths else None
    tree = Tree(project.discovery.root)
    # Without --add, only listed files need a look.
    there = tuple(sorted(p for p in listed.paths if (known is None or p in known) and tree.exists(p)))
    paths = project.discovery.paths if add else there
    looked_at = Project(settings, replace(project.discovery, paths=paths))
    checked = run_check(run, looked_at, rules_for(settings), allowlist=listed, suppress=False)
    stale = tuple(stale_in_run(listed, checked.clean, tree, known))
    note_crashes(checked.crashes, run)
    if checked.crashes:
        return INTERNAL_ERROR
    if update:
        failing = {f.path for f in checked.findings if f.code != StaleAllowlistEntry.code} if add else set()
        after = updated(listed, stale, failing)
        if after != listed:
            save_allowlist(file, after)
        if not run.quiet:
            gone, new = len(listed.paths - after.paths), len(after.paths - listed.paths)
            left = plural(len(after.entries), "file")
            note(f"{file.name}: {plural(gone, 'file')} taken out, {new} put in, {left} left")
        return OK
    findings = sorted((stale_finding(settings, one) for one in stale), key=lambda f: f.sort_key)
    report = Report(
        tuple(findings), settings.root, "upstream", Statistics(files=len(paths)), rules=(StaleAllowlistEntry,)
    )
    view = View(Sources(report.root), color=use_color(color, output), summary=not run.quiet and bool(findings))
    write_output(render(format_name, report, view), output, utf8=format_name not in PLAIN_FORMATS)
    return FINDINGS if report.failing and format_name != "lintrunner" else OK
