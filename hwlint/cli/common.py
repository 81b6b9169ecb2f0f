"""Options and steps that commands on a test tree share."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from hwlint.cache import Cache
from hwlint.cli.output import note
from hwlint.config import Settings, load_settings
from hwlint.discover import Discovery, discover, find_root
from hwlint.engine import Progress
from hwlint.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line says of the files, the configuration and the run, whatever the command."""

    paths: tuple[str, ...] = ()
    config: Path | None = None
    level: str | None = None
    force_exclude: bool = False
    jobs: int | None = None
    cache: bool = True
    cache_dir: str | None = None
    quiet: bool = False
    verbose: bool = False


def run_options(function: F) -> F:
    """Give a command the shared options; its function gets them as ``run``, a :class:`RunOptions`."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        names = RunOptions.__dataclass_fields__
        run = RunOptions(**{name: given.pop(name) for name in list(given) if name in names})
        return function(*args, run=run, **given)

    for decorate in reversed(_RUN_OPTIONS):
        command = decorate(command)
    return command  # type: ignore[return-value]


_RUN_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATHS | @FILE]..."),
    click.option("--config", type=PATH, help="TOML file whose [tool.hwlint] to use."),
    click.option("--level", type=click.Choice(["upstream", "full"]), help="PyTorch's own linter's rules, or all."),
    click.option("--force-exclude", is_flag=True, help="Leave out excluded files also where they are named."),
    click.option("-j", "--jobs", type=click.IntRange(0), help="Processes; 0: one a core."),
    click.option("--cache/--no-cache", default=True, help="Whether to use what earlier runs found out."),
    click.option("--cache-dir", type=click.Path(), help="Folder of the cache."),
    click.option("-q", "--quiet", is_flag=True, help="Nothing but the result."),
    click.option("-v", "--verbose", is_flag=True, help="More on standard error: timings, tracebacks."),
)


def output_options(formats: Sequence[str]) -> Callable[[F], F]:
    """Give a command ``--format`` (as ``format_name``), ``--output`` and ``--color``."""

    def decorate(function: F) -> F:
        options = (
            click.option("--format", "format_name", type=click.Choice(formats), default=formats[0], show_default=True),
            click.option("-o", "--output", type=PATH, help="File to write in place of standard output."),
            click.option("--color/--no-color", default=None, help="Default: on a terminal, unless NO_COLOR is set."),
        )
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


@dataclass(frozen=True, slots=True)
class Project:
    """The settings and the files of a run."""

    settings: Settings
    discovery: Discovery


def open_project(run: RunOptions, **overrides: Any) -> Project:
    """Find root, configuration and files; ``overrides`` are settings of the command's options, None for not given."""
    given = expand_paths(run.paths)
    paths = [Path(path) for path in given]
    overrides |= {"level": run.level, "force_exclude": run.force_exclude or None, "jobs": run.jobs}
    overrides |= {"cache_dir": os.path.abspath(run.cache_dir) if run.cache_dir is not None else None}
    root = find_root(paths)
    settings = load_settings(root, run.config, {name: value for name, value in overrides.items() if value is not None})
    # An empty list of paths asks for nothing, other than no list.
    files = discover(paths, settings) if paths or not run.paths else Discovery(root, ())
    if not run.quiet:
        for line in files.notes:
            note(f"note: {line}")
    return Project(settings, files)


def expand_paths(arguments: Sequence[str]) -> list[str]:
    """The arguments with each ``@FILE`` replaced by the lines of FILE, as lintrunner passes paths (``@{{PATHSFILE}}``).

    A path that itself begins with '@' is written './@...'. UsageError where FILE cannot be read.
    """
    paths: list[str] = []
    for argument in arguments:
        if not argument.startswith("@"):
            paths.append(argument)
            continue
        try:
            data = Path(argument[1:]).read_bytes()
        except OSError as error:
            raise UsageError(f"{argument[1:]}: cannot be read: {error.strerror or error}") from None
        paths += [os.fsdecode(line) for line in data.splitlines() if line.strip()]
    return paths


def absolute(path: Path | None) -> str | None:
    """A path of the command line, relative to the current folder, as a setting, which is relative to the root."""
    return None if path is None else os.path.abspath(path)


def split_codes(values: Sequence[str]) -> tuple[str, ...] | None:
    """Codes given as 'HW1,HW201' or in several options, None where none is given."""
    codes = tuple(code.strip().upper() for value in values for code in value.split(",") if code.strip())
    return codes or None


@contextmanager
def open_cache(run: RunOptions, settings: Settings) -> Iterator[Cache]:
    """The cache that the options and the configuration name, or one that holds nothing."""
    cache = Cache.open(settings.resolve(settings.cache_dir)) if run.cache else Cache()
    try:
        yield cache
    finally:
        cache.close()


@contextmanager
def progress_bar(run: RunOptions) -> Iterator[Progress | None]:
    """A bar on standard error while the block runs: only on a terminal, and once a second has passed."""
    if run.quiet or not sys.stderr.isatty():
        yield None
        return
    started = time.monotonic()
    with ExitStack() as open_bars:
        bar: Progress | None = None

        def show(done: int, total: int) -> None:
            nonlocal bar
            if bar is None and time.monotonic() - started > 1:
                bar = _open_bar(open_bars)
            if bar is not None:
                bar(done, total)

        yield show


def _open_bar(open_bars: ExitStack) -> Progress:
    from rich.console import Console
    from rich.progress import Progress as RichProgress

    bars = open_bars.enter_context(RichProgress(console=Console(stderr=True), transient=True))
    task = bars.add_task("reading")
    return lambda done, total: bars.update(task, completed=done, total=total)
