"""``hwlint progress``."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwlint.cli import FINDINGS, OK
from hwlint.cli.common import (
    PATH,
    RunOptions,
    absolute,
    expand_paths,
    open_cache,
    open_project,
    output_options,
    progress_bar,
    run_options,
)
from hwlint.cli.output import note, use_color, write_output
from hwlint.progress.render import COMPARISON_FORMATS, FORMATS

if TYPE_CHECKING:
    from hwlint.progress.gather import Source
    from hwlint.progress.history.course import Course
    from hwlint.progress.history.estimate import Estimate
    from hwlint.progress.model import Snapshot

WIDTH = 100
"""Columns where no terminal says how many it has."""


@click.command("progress")
@run_options
@output_options(FORMATS)
@click.option("--rev", metavar="REV", help="Look at this commit in place of the files on disk.")
@click.option("--allowlist", type=PATH, help="JSON list of files not yet migrated, as PyTorch's linter has it.")
@click.option("--depth", type=click.IntRange(0), help="Folder levels in the table by folder.")
@click.option(
    "--rows", type=click.IntRange(0), default=15, show_default=True, help="Rows of a table (text, markdown); 0: all."
)
@click.option("--history", is_flag=True, help="Show the way here, from git or from --snapshots.")
@click.option("--since", default="", metavar="DATE|REV", help="Start of the history.")
@click.option(
    "--every", default="week", metavar="week|month|N", show_default=True, help="Points of the history; N: commits."
)
@click.option("--snapshots", type=PATH, help="File of stored snapshots to take the history from.")
@click.option("--save", type=PATH, help="Add this snapshot to a file, one JSON document a line.")
@click.option("--date", metavar="DATE|now", help="Date of the report, in place of the commit's.")
@click.option(
    "--compare", nargs=2, type=PATH, metavar="A B", help="What moved between two snapshots; PATHS are not read."
)
@click.option(
    "--max-unclassified", type=click.IntRange(0), metavar="N", help="Exit with 1 where more classes are unclassified."
)
@click.option("--no-regression", type=PATH, metavar="SNAPSHOT", help="Exit with 1 if something is worse than there.")
def progress(
    run: RunOptions,
    format_name: str,
    output: Path | None,
    color: bool | None,
    rev: str | None,
    allowlist: Path | None,
    depth: int | None,
    rows: int,
    history: bool,
    since: str,
    every: str,
    snapshots: Path | None,
    save: Path | None,
    date: str | None,
    compare: tuple[Path, Path] | None,
    max_unclassified: int | None,
    no_regression: Path | None,
) -> int:
    """Show how far a test suite has come: its classes and tests by classification, what is still bound to a device,
    what is cheapest next, and with --history how fast it moves to zero.

    The report is about the files as they are; --rev takes those of a commit, as does a bare repository. The same input
    gives the same report, byte for byte.

    Exit status: 0, or 1 where --max-unclassified or --no-regression says so; 2 hwlint could not do what was asked.
    """
    shown_color = use_color(color, output)
    width = shutil.get_terminal_size((WIDTH, 0)).columns if output is None and sys.stdout.isatty() else WIDTH
    utf8 = format_name != "text"
    if compare is not None:
        write_output(_comparison(compare, format_name, shown_color, width), output, utf8=utf8)
        return OK
    from hwlint.progress.report import ProgressReport

    shown_date = _date(date)
    baseline = _load(no_regression)
    source = _source(run, rev, allowlist)
    snapshot, course = _take(run, source, shown_date, history and snapshots is None, since, every)
    if save is not None and not snapshot.origin.date:
        raise click.UsageError("--save: no commit dates this snapshot; give it a --date, such as 'now'")
    if history and snapshots is not None:
        course = _stored_course(snapshots, snapshot)
    report = ProgressReport(
        snapshot,
        depth=source.settings.progress.depth if depth is None else depth,
        course=course,
        estimate=_estimate(course, listed=False),
        allowlist_estimate=_estimate(course, listed=True),
        rows=rows,
    )
    from hwlint.progress.render import render

    write_output(render(format_name, report, color=shown_color, width=width), output, utf8=utf8)
    if save is not None:
        _save(save, snapshot)
    problems = _regressions(snapshot, max_unclassified, baseline)
    for line in problems:
        note(line)
    return FINDINGS if problems else OK


def _comparison(files: tuple[Path, Path], format_name: str, color: bool, width: int) -> str:
    if format_name not in COMPARISON_FORMATS:
        raise click.UsageError(f"--compare has no {format_name}: choose one of {', '.join(COMPARISON_FORMATS)}")
    from hwlint.progress.compare import compare
    from hwlint.progress.document import load_snapshot
    from hwlint.progress.render import render_comparison

    before, after = map(load_snapshot, files)
    return render_comparison(format_name, compare(before, after), color=color, width=width)


def _date(wish: str | None) -> str | None:
    """The date that was asked for, as a report shows it; None where none was."""
    if wish is None:
        return None
    import time

    from hwlint.progress.history.commits import iso, read_date

    seconds = int(time.time()) if wish == "now" else read_date(wish)
    if seconds is None:
        raise click.UsageError(f"--date {wish!r}: must be a date such as 2026-08-22, or 'now'")
    return iso(seconds)


def _load(path: Path | None) -> Snapshot | None:
    if path is None:
        return None
    from hwlint.progress.document import load_snapshot

    return load_snapshot(path)


def _source(run: RunOptions, rev: str | None, allowlist: Path | None) -> Source:
    from hwlint.config import load_settings
    from hwlint.discover import find_root
    from hwlint.errors import UsageError
    from hwlint.git import EMPTY_TREE
    from hwlint.progress.gather import Source
    from hwlint.progress.revision import RevisionFiles, discover_at, is_bare, open_git

    given = expand_paths(run.paths)
    root = find_root([Path(path) for path in given]) if rev is not None else find_root()
    git = open_git(root)
    bare = git is not None and is_bare(git)
    if rev is None and not bare:
        project = open_project(run, allowlist=absolute(allowlist))
        settings = project.settings
        git = open_git(settings.root)
        revision = "" if git is None else git.head()
        paths = _relative(given, settings.root)
        return Source(settings, project.discovery, git, "" if revision == EMPTY_TREE else revision, None, paths)
    if git is None:
        raise UsageError("--rev: there is no git repository here")
    revision = git.resolve(rev or "HEAD")
    files = RevisionFiles.at(git, revision)
    overrides = {
        "force_exclude": run.force_exclude or None,
        "jobs": run.jobs,
        "cache_dir": None if run.cache_dir is None else os.path.abspath(run.cache_dir),
        "allowlist": None if allowlist is None else (str(allowlist) if bare else absolute(allowlist)),
    }
    chosen = {name: value for name, value in overrides.items() if value is not None}
    content = files["pyproject.toml"] if bare and run.config is None else None
    if content is not None and b"hwlint" in content:
        with tempfile.TemporaryDirectory() as folder:
            # A bare repository has its configuration in the commit, and the reader reads files.
            config = Path(folder, "pyproject.toml")
            config.write_bytes(content)
            settings = load_settings(Path(folder), None, chosen | {"root": root})
    else:
        settings = load_settings(root, run.config, chosen)
    paths = tuple(path.rstrip("/") for path in given) if bare else _relative(given, root)
    return Source(settings, discover_at(files, list(paths), settings), git, revision, files, paths)


def _relative(paths: list[str], root: Path) -> tuple[str, ...]:
    return tuple(Path(os.path.relpath(path, root)).as_posix() for path in paths)


def _take(
    run: RunOptions, source: Source, date: str | None, with_course: bool, since: str, every: str
) -> tuple[Snapshot, Course | None]:
    from hwlint.classify.judge import classify
    from hwlint.errors import UsageError
    from hwlint.progress.gather import take_course, take_snapshot

    jobs = run.jobs or 0
    course = None
    with open_cache(run, source.settings) as cache, progress_bar(run) as bar:
        snapshot = take_snapshot(source, classify, cache, jobs=jobs, date=date, progress=bar)
        if with_course:
            if source.git is None or not source.revision:
                raise UsageError(
                    "--history: there is no git history here; --snapshots FILE takes it from stored snapshots"
                )
            course = take_course(source, cache, since=since, every=every, jobs=jobs, progress=bar)
    return snapshot, course


def _stored_course(path: Path, snapshot: Snapshot) -> Course:
    """The history in a file, this snapshot at its end where it has a date."""
    from hwlint.progress.document import load_snapshots
    from hwlint.progress.history.course import from_snapshots

    stored = load_snapshots(path)
    return from_snapshots([*stored, snapshot] if snapshot.origin.date else stored)


def _estimate(course: Course | None, *, listed: bool) -> Estimate | None:
    if course is None:
        return None
    from hwlint.progress.history.commits import read_date
    from hwlint.progress.history.estimate import estimate

    points = [p for p in course.pace if not listed or p.allowlist_entries is not None]
    if listed and len(points) < 2:
        return None
    times = [read_date(point.date) or 0 for point in points]
    return estimate(times, [(p.allowlist_entries or 0) if listed else p.unclassified for p in points])


def _save(path: Path, snapshot: Snapshot) -> None:
    """Add a snapshot to a file, unless it is there already."""
    from hwlint.errors import UsageError
    from hwlint.progress.document import dump_line

    line = dump_line(snapshot).encode("ascii")
    try:
        known = path.read_bytes() if path.exists() else b""
        if line.rstrip(b"\n") in known.split(b"\n"):
            return
        with path.open("ab") as file:
            file.write((b"\n" if known and not known.endswith(b"\n") else b"") + line)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None


def _regressions(snapshot: Snapshot, limit: int | None, baseline: Snapshot | None) -> list[str]:
    """What --max-unclassified and --no-regression object to, one line each."""
    from hwlint.progress.gates import over_limit, worse_than

    found = [] if limit is None else over_limit(snapshot, limit)
    return found if baseline is None else found + worse_than(snapshot, baseline)
