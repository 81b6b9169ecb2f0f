"""``hwlint migrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwlint.cli import FAILED, FINDINGS, INTERNAL_ERROR, OK
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
)
from hwlint.cli.output import note, use_color, write_output
from hwlint.errors import UsageError
from hwlint.scan.facts import LABELS

if TYPE_CHECKING:
    from codemods.plan import Options
    from codemods.report import Report
    from codemods.run import Migration

FORMATS = ("text", "json", "markdown")


@click.command("migrate")
@run_options
@output_options(FORMATS)
@click.option("--diff", "mode", flag_value="diff", help="Show what would change (default).")
@click.option("--write", "mode", flag_value="write", help="Change the files.")
@click.option("--check", "mode", flag_value="check", help="Only say whether anything would change.")
@click.option("--patch-dir", type=PATH, help="Write one patch a file into this folder, for `git apply`.")
@click.option("--allow-dirty", is_flag=True, help="With --write: also files with uncommitted changes.")
@click.option("--only", multiple=True, metavar="CODEMODS", help="Codemods to run: tag_class,super_calls.")
@click.option("--skip", multiple=True, metavar="CODEMODS", help="Codemods not to run.")
@click.option("--list", "listing", is_flag=True, help="List the codemods, and stop.")
@click.option("--unsafe", is_flag=True, help="Make unsafe changes too.")
@click.option("--split", is_flag=True, help="Split classes whose tests belong to several labels.")
@click.option("--confidence", type=click.Choice(["certain", "likely"]), help="How sure a label must be to be written.")
@click.option(
    "--label", "labels", multiple=True, metavar="CLASS=LABEL", help="The label of a class, whatever the evidence."
)
@click.option("--downstream", multiple=True, type=PATH, help="Folders or files elsewhere that key on test names.")
@click.option("--allowlist", type=PATH, help="List to take files from that are clean now (with --write).")
@click.option("--summary", type=PATH, help="Write Markdown for a pull request to this file.")
def migrate(
    run: RunOptions,
    format_name: str,
    output: Path | None,
    color: bool | None,
    mode: str | None,
    patch_dir: Path | None,
    allow_dirty: bool,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    listing: bool,
    unsafe: bool,
    split: bool,
    confidence: str | None,
    labels: tuple[str, ...],
    downstream: tuple[Path, ...],
    allowlist: Path | None,
    summary: Path | None,
) -> int:
    """Rewrite test files to device-generic form, and prove that no test was lost.

    PATHS are files or folders; @FILE stands for the paths that FILE lists. Shown is a unified diff, on standard
    output; what was refused, and why, goes to standard error. What cannot be proved stays as it is.

    Exit status: 0 nothing to do, or all of it written; 1 there is something to do; 2 hwlint could not do what was
    asked (a file with uncommitted changes, say); 3 an internal error, or a change that failed its proof and was taken
    back.
    """
    if listing:
        return _list()
    if patch_dir is not None and mode not in (None, "diff"):
        raise click.UsageError("--patch-dir goes with neither --write nor --check")
    mode = "patch" if patch_dir is not None else mode or "diff"
    project = open_project(run, allowlist=absolute(allowlist))
    migration = _migrate(run, project, _options(only, skip, unsafe, split, labels), confidence)
    report = _report(project, migration, mode, allow_dirty, downstream)
    if patch_dir is not None:
        _write_patches(patch_dir, report)
    _show(run, report, mode, format_name, output, use_color(color, output))
    if summary is not None:
        from codemods.pull_request import as_markdown

        write_output(as_markdown(report), summary)
    return _status(report, mode)


def _list() -> int:
    from codemods.registry import all_codemods

    width = max(len(codemod.name) for codemod in all_codemods())
    write_output("".join(f"{c.name:<{width}}  {c.summary}\n" for c in all_codemods()))
    return OK


def _options(
    only: tuple[str, ...], skip: tuple[str, ...], unsafe: bool, split: bool, labels: tuple[str, ...]
) -> Options:
    from codemods.plan import Options
    from codemods.registry import chosen

    chosen(only, skip)
    pairs = []
    for given in labels:
        name, mark, label = given.rpartition("=")
        if not mark or not name or label.upper() not in LABELS:
            raise UsageError(f"--label {given}: must be CLASS=LABEL, with one of {', '.join(LABELS)}")
        pairs.append((name, label.upper()))
    named = tuple(c.name for c in chosen(only)) if only else ()
    return Options(named, skip, unsafe, split, tuple(pairs))


def _migrate(run: RunOptions, project: Project, options: Options, confidence: str | None) -> Migration:
    from dataclasses import replace

    from codemods.run import migrate as run_codemods

    settings = project.settings
    if confidence is not None:
        settings = replace(settings, migrate=replace(settings.migrate, confidence=confidence))  # type: ignore[arg-type]
    with open_cache(run, settings) as cache, progress_bar(run) as progress:
        return run_codemods(settings, project.discovery, options, cache=cache, progress=progress)


def _report(
    project: Project, migration: Migration, mode: str, allow_dirty: bool, downstream: tuple[Path, ...]
) -> Report:
    from codemods.name_keys import find_keyed
    from codemods.report import Report
    from codemods.write import now_clean, shorten_allowlist, write_files

    settings, root = project.settings, project.discovery.root
    places = [*downstream, *(settings.resolve(path) for path in settings.migrate.downstream)]
    for place in places:
        if not place.exists():
            raise UsageError(f"{place}: no such file or folder")
    keyed = find_keyed(root, migration.analysis.suite, migration.outcomes, places)
    if mode != "write":
        return Report(migration.outcomes, keyed=keyed)
    written, unwritten = write_files(root, migration.outcomes, allow_dirty=allow_dirty)
    shortened: list[str] = []
    if settings.allowlist:
        clean = set(now_clean(migration.outcomes)) & set(written)
        shortened = shorten_allowlist(settings.resolve(settings.allowlist), clean)
    return Report(migration.outcomes, True, tuple(written), tuple(unwritten), keyed, tuple(shortened))


def _write_patches(folder: Path, report: Report) -> None:
    from codemods.write import write_patches

    try:
        written = write_patches(folder, report.outcomes)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror or error}") from None
    note(f"{len(written)} patches in {folder}")


def _show(run: RunOptions, report: Report, mode: str, format_name: str, output: Path | None, color: bool) -> None:
    """The result on standard output, or in ``output``; with a diff, the report on standard error."""
    if format_name == "json":
        import json

        from codemods.report import as_document

        write_output(json.dumps(as_document(report), indent=2) + "\n", output)
    elif format_name == "markdown":
        from codemods.pull_request import as_markdown

        write_output(as_markdown(report), output)
    else:
        from codemods.report import as_text

        if mode == "diff":
            _show_diff(report, output, color)
        text = as_text(report, advice=run.verbose)
        if mode == "diff" and not run.quiet:
            note(text.rstrip("\n"))
        elif mode != "diff":
            write_output(text, output, utf8=False)
    for outcome in report.outcomes:
        if outcome.crash:
            note(f"internal error: {outcome.path}: please report this")
            note(outcome.crash.rstrip() if run.verbose else outcome.crash.strip().splitlines()[-1])


def _show_diff(report: Report, output: Path | None, color: bool) -> None:
    from codemods.patch import colored, unified_diff

    diff = b"".join(unified_diff(o.path, o.before, o.after) for o in report.outcomes)
    if color:
        write_output(colored(diff), output, utf8=False)
    elif output is None:
        click.echo(diff, nl=False)
    else:
        from hwlint.atomic import write_atomic

        try:
            write_atomic(output, diff)
        except OSError as error:
            raise UsageError(f"{output}: cannot be written: {error.strerror or error}") from None


def _status(report: Report, mode: str) -> int:
    if report.faults or any(o.crash for o in report.outcomes):
        return INTERNAL_ERROR
    if report.unwritten:
        return FAILED
    return FINDINGS if report.changed and mode != "write" else OK
