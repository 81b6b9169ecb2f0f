"""Which files a run looks at: named on the command line, listed by git, or found in the folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hwlint import globs
from hwlint.config import Settings, read_table
from hwlint.errors import UsageError
from hwlint.git import Git, GitError, find_top

SKIPPED_FOLDERS = frozenset(
    ".git .hg .svn .tox .nox .venv venv .eggs .mypy_cache .pytest_cache .ruff_cache .hwlint_cache __pycache__"
    " node_modules site-packages".split()
)
"""Not entered where there is no git to say what belongs to the project."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """The files of a run."""

    root: Path
    paths: tuple[str, ...]
    """Relative to ``root``, with forward slashes, sorted, each once."""
    named: frozenset[str] = frozenset()
    """Those of ``paths`` that were named on the command line as files."""
    notes: tuple[str, ...] = ()
    """What the user should hear about how the files were found, one line each."""


def find_root(paths: Sequence[Path] = (), cwd: Path | None = None) -> Path:
    """What paths are relative to: the folder of the nearest ``[tool.hwlint]``, else the repository, else ``cwd``.

    Looked for upwards from ``paths``, else from ``cwd``, and not beyond the repository. Where neither is there and the
    paths lie outside ``cwd``: the folder of the nearest .lintrunner.toml (a source archive of PyTorch has no .git), the
    folder above a ``test`` folder (upstream's paths begin with it), else the folder they share.
    """
    here = _here(cwd)
    start = _common_folder([here / path for path in paths]) if paths else here
    top = find_top(start)
    for folder in (start, *start.parents):
        config = folder / "pyproject.toml"
        if config.is_file() and read_table(config) is not None:
            return folder
        if folder == top:
            return folder
    if here == start or here in start.parents:
        return here
    for folder in (start, *start.parents):
        if (folder / ".lintrunner.toml").is_file():
            return folder
    return start.parent if start.name == "test" else start


def discover(paths: Sequence[Path], settings: Settings, cwd: Path | None = None) -> Discovery:
    """The Python files that ``paths`` name, or the configured ones, else those below ``cwd``.

    A file named is read whatever its name and its place, unless ``force_exclude`` is set. Raises UsageError for a named
    path that is not there or cannot be read.
    """
    here = _here(cwd)
    root = Path(os.path.abspath(settings.root))
    files: dict[str, None] = {}
    folders: list[str] = []
    for path in paths:
        place = Path(os.path.abspath(here / path))
        relative = _relative(place, root)
        if place.is_dir():
            folders.append(relative)
            continue
        _check_readable(path, place)
        if not (settings.force_exclude and globs.matches(relative, settings.exclude)):
            files[relative] = None
    notes: list[str] = []
    found: Iterable[str] = ()
    if folders:
        found = _list_python(root, folders, notes)
    elif not paths and settings.include:
        found = (p for p in _list_python(root, ["."], notes) if globs.matches(p, settings.include, anchored=True))
    elif not paths:
        found = _list_python(root, [_relative(here, root)] if root in here.parents else ["."], notes)
    listed = (path for path in found if not globs.matches(path, settings.exclude))
    return Discovery(root, tuple(sorted({*files, *listed})), frozenset(files), tuple(notes))


def python_files(root: Path, folder: str) -> tuple[str, ...]:
    """All Python files below ``folder`` of ``root``, whatever the configuration leaves out."""
    return tuple(_list_python(root, [folder], []))


def printable(path: str) -> str:
    """``path`` for people and for JSON: bytes of a name that are not UTF-8 as ``\\xNN``."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _here(cwd: Path | None) -> Path:
    try:
        return Path(os.path.abspath(cwd or os.getcwd()))
    except FileNotFoundError:
        raise UsageError("the current folder is not there any more") from None


def _check_readable(given: Path, place: Path) -> None:
    try:
        with open(place, "rb"):
            pass
    except FileNotFoundError:
        raise UsageError(f"{printable(str(given))}: no such file or folder") from None
    except OSError as error:
        raise UsageError(f"{printable(str(given))}: cannot be read: {error.strerror or error}") from None


def _list_python(root: Path, folders: list[str], notes: list[str]) -> Iterator[str]:
    for folder in folders:
        place = root if folder == "." else root / folder
        listed = _list_with_git(place, notes)
        if listed is None:
            listed = list(_walk(place, notes))
        prefix = "" if folder == "." else folder + "/"
        for path in listed:
            if path.endswith(".py"):
                yield prefix + path


def _list_with_git(place: Path, notes: list[str]) -> list[str] | None:
    """What git has below ``place``; None where there is no git, or where all of it is ignored on purpose."""
    if find_top(place) is None:
        return None
    git = Git(place)
    try:
        listed = git.list_files()
        if not listed and git.is_ignored("."):
            return None
    except GitError as error:
        notes.append(f"{error}; files are taken from the folder instead")
        return None
    # A file deleted and not yet committed is still listed.
    return [path for path in listed if os.path.lexists(place / path)]


def _walk(place: Path, notes: list[str]) -> Iterator[str]:
    """Files below a folder; links to folders are not followed, so that a loop of them does no harm."""

    def failed(error: OSError) -> None:
        name = printable(os.path.relpath(os.fsdecode(error.filename or ""), place))
        notes.append(f"{name}: the folder cannot be read: {error.strerror or error}")

    for folder, names, files in os.walk(place, onerror=failed):
        names[:] = [
            n for n in names if n not in SKIPPED_FOLDERS and not os.path.exists(os.path.join(folder, n, "pyvenv.cfg"))
        ]
        prefix = Path(os.path.relpath(folder, place)).as_posix()
        for name in files:
            yield name if prefix == "." else f"{prefix}/{name}"


def _relative(place: Path, root: Path) -> str:
    return Path(os.path.relpath(place, root)).as_posix()


def _common_folder(places: Sequence[Path]) -> Path:
    folders = [str(p if p.is_dir() else p.parent) for p in map(Path, map(os.path.abspath, places))]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # On several drives.
        return Path(folders[0])
