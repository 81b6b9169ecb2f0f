"""Tests that a tree knows by their names: files and keys of JSON lists (the catalog's ``namekeys.toml``)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from hwlint.catalog import NameKey
from hwlint.suite.ids import UNKNOWN

ENTRIES = "torch/testing/_internal/common_methods_invocations.py"
"""Where most of the entries stand that skip tests, or expect them to fail, by their class and name."""
FOLDERS = ("torch/testing/_internal", "test")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass
class KeyedTests:
    """The keys of the tree at ``root``, read when first asked for."""

    root: Path | None = None
    places: Sequence[NameKey] = ()
    found: dict[str, dict[str, list[tuple[str, int]]]] = field(default_factory=dict)
    """By name of the place: key -> files and lines; line 0 where the file's own name is the key."""
    named: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def in_place(self, place: NameKey) -> dict[str, list[tuple[str, int]]]:
        """All keys of a place in which tests are keyed by the names of files or by strings of JSON."""
        if place.name not in self.found:
            known = self.found[place.name] = {}
            for key, path, line in _keys(self.root, place) if self.root is not None else ():
                known.setdefault(key, []).append((path, line))
        return self.found[place.name]

    def named_with(self, cls: str, path: str) -> frozenset[str] | None:
        """The tests that a text of the tree but ``path`` names together with the class, as the entries of OpInfo,
        ModuleInfo and OptimizerInfo do; '' where it names the class without one. None where the tree does not hold
        those entries.
        """
        if self.root is None or not (self.root / ENTRIES).is_file():
            return None
        if (cls, path) not in self.named:
            pair = re.compile(rf"""["']{re.escape(cls)}["'](?:,\s*(?:test_name\s*=\s*)?["'](\w+)["'])?""")
            texts = _texts(self.root, path)
            self.named[cls, path] = frozenset(m.group(1) or "" for text in texts for m in pair.finditer(text))
        return self.named[cls, path]

    def place_of(self, cls: str, test: str) -> str:
        """The file that knows a test by its name, '' for none; ``test`` may hold '*' for what cannot be read."""
        for place in self.places:
            form = key_of(place, cls, test)
            known = self.in_place(place)
            if UNKNOWN not in test:
                if form in known:
                    return known[form][0][0]
            else:
                for key, places in known.items():
                    if cls in key and fnmatchcase(key, form):
                        return places[0][0]
        return ""


def _texts(root: Path, but: str) -> Iterator[str]:
    """The Python files that may hold entries, without ``but``."""
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("**/*.py")):
            if path == root / but:
                continue
            try:
                yield path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue


def key_of(place: NameKey, cls: str, test: str) -> str:
    """What a test is called in a place."""
    return place.form.replace("{cls}", cls).replace("{test}", test)


def _keys(root: Path, place: NameKey) -> Iterator[tuple[str, str, int]]:
    """Key, file and line; nothing from what cannot be read."""
    if place.keyed_by == "file_name":
        folder = place.pattern.rpartition("/")[0]
        try:
            names = sorted(os.listdir(root / folder))
        except OSError:
            return
        yield from ((name, f"{folder}/{name}", 0) for name in names)
    elif place.keyed_by == "json_key":
        for file in sorted(root.glob(place.pattern)):
            for key, line in _json_strings(file).items():
                yield key, file.relative_to(root).as_posix(), line


def _json_strings(file: Path) -> dict[str, int]:
    """Strings of a JSON file and the line each is first on."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        for match in STRING.finditer(line):
            try:
                found.setdefault(str(json.loads(match.group())), number)
            except ValueError:
                pass
    return found
