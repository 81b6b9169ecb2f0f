"""Files that import from others in ways that their facts do not tell: they lie outside of the run, or the import stands
in a function or names a module by a path with dots.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from hwlint.discover import python_files
from hwlint.suite.imports import candidate_paths

WORD = re.compile(rb"[A-Za-z_]\w*")
FEW = 30
"""So many names are looked for one by one."""
IMPORTING = re.compile(rb"^[ \t]*(?:(?:from|import)\b.*|\w+(?:[ \t]+as[ \t]+\w+)?,?[ \t]*(?:#.*)?)$", re.MULTILINE)
"""``from``, ``import``, and what may stand alone on a line of ``import (...)``."""
INDENTED = re.compile(rb"^[ \t]+from[ \t]+([\w.]+)[ \t]+import[ \t]+(.+)$", re.MULTILINE)
DOTTED = re.compile(rb"^[ \t]*import[ \t]+(\w+\.[\w.]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class HiddenImport:
    """An import that no fact tells of; ``names`` is None where it may be of any."""

    importer: str
    names: frozenset[str] | None


def hidden_imports(read: Callable[[str], bytes], paths: Collection[str]) -> dict[str, tuple[HiddenImport, ...]]:
    """For each of ``paths``, the imports of it in the others that are indented, or say ``import a.b``."""
    known = frozenset(paths)
    found: dict[str, list[HiddenImport]] = {}
    for importer in paths:
        for module, names in _hidden(read(importer)):
            path = next((p for p in candidate_paths(module, importer) if p in known), importer)
            if path != importer:
                found.setdefault(path, []).append(HiddenImport(importer, names))
    return {path: tuple(imports) for path, imports in found.items()}


def _hidden(data: bytes) -> Iterator[tuple[str, frozenset[str] | None]]:
    for match in INDENTED.finditer(data):
        text = match.group(2).partition(b"#")[0].decode("utf-8", "replace")
        any_name = any(c in text for c in "(*\\")
        yield match.group(1).decode().lstrip("."), None if any_name else frozenset(re.findall(r"\w+", text))
    for match in DOTTED.finditer(data):
        yield match.group(1).decode(), None


def importing_files(root: Path, paths: Collection[str]) -> tuple[str, ...]:
    """Python files of the same top folders that hold the module name of one of ``paths``, which are not among them.

    Of a file at ``root`` itself only those beside it: what is below may be anything. Nothing outside of ``root``.
    """
    names = {name for path in paths if (name := _module_name(path))}
    folders = sorted({path.partition("/")[0] if "/" in path else "" for path in paths} - {".."})
    beside = (path for folder in folders for path in _listed(root, folder) if path not in paths)
    return tuple(sorted(path for path in beside if _holds(_read(root, path), names)))


def _module_name(path: str) -> bytes:
    """What an import of the file has to say."""
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".py")
    return os.fsencode(folder.rpartition("/")[2] if stem == "__init__" else stem)


def _holds(data: bytes, names: Collection[bytes]) -> bool:
    """Whether a line that may be part of an import holds one of the names."""
    if len(names) <= FEW and not any(name in data for name in names):
        return False
    return any(not set(WORD.findall(line)).isdisjoint(names) for line in IMPORTING.findall(data))


# What follows is kept for a process that migrates file after file (codemods/command.py).


@lru_cache(maxsize=2)
def _listed(root: Path, folder: str) -> tuple[str, ...]:
    return python_files(root, folder) if folder else tuple(p.name for p in root.glob("*.py"))


@lru_cache(maxsize=4096)
def _read(root: Path, path: str) -> bytes:
    """The content of a file, nothing for one that cannot be read."""
    try:
        return (root / path).read_bytes()
    except OSError:
        return b""
