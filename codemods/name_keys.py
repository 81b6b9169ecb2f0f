"""Names of tests and classes that something elsewhere keys on, and that a migration changes.

Places inside the tree are the catalog's (``hwlint/catalog/namekeys.toml``): expected-failure and skip files, lists of
slow and disabled tests, ``DecorateInfo`` entries, imports by other test files. Places outside are folders and files
that the user names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codemods.keyed_tests import KeyedTests, key_of
from codemods.pipeline import Outcome
from hwlint.catalog import NameKey
from hwlint.discover import SKIPPED_FOLDERS
from hwlint.suite.ids import UNKNOWN
from hwlint.suite.imports import candidate_paths
from hwlint.suite.model import Suite

TEXT_FILES = (".py", ".json", ".txt", ".yml", ".yaml", ".toml", ".cfg", ".csv", ".md", ".sh", ".pyi", ".ini")
LARGEST = 50_000_000
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class KeyedName:
    """One place that will no longer find what it names."""

    path: str
    line: int
    """0 where the file's own name is the key."""
    place: str
    """'dynamo_skips', 'imports', 'downstream'."""
    key: str
    becomes: str
    """What it is called now; '' where it is gone or has become several."""
    meaning: str


@dataclass
class Renamed:
    """What the migration calls otherwise than before."""

    tests: dict[tuple[str, str], str] = field(default_factory=dict)
    """(class, test) as unittest knew it -> 'Class.test' now, '' for lost."""
    templates: dict[tuple[str, str], str] = field(default_factory=dict)
    """(class, test) in the source -> 'Class.test' now."""
    classes: dict[str, str] = field(default_factory=dict)
    """Class that is gone from its module -> the classes that took its place, ' '-separated."""
    sources: dict[tuple[str, str], str] = field(default_factory=dict)
    """(path, class) of those."""


def renamed_in(outcomes: Iterable[Outcome]) -> Renamed:
    """All that the outcomes rename."""
    found = Renamed()
    for outcome in outcomes:
        after = {e.after.class_name for e in outcome.manifest.entries if e.after is not None}
        for entry in outcome.manifest.entries:
            old, new = entry.before, entry.after
            if old is None or entry.fate == "kept":
                continue
            found.tests[old.class_name, old.name] = f"{new.class_name}.{new.name}" if new is not None else ""
            if old.class_name not in after:
                others = {
                    e.after.class_name for e in outcome.manifest.entries if e.after is not None and e.before is old
                }
                known = found.classes.get(old.class_name, "").split()
                found.classes[old.class_name] = " ".join(dict.fromkeys((*known, *sorted(others))))
                if old.device == "" and all(one.name != old.class_name for one in outcome.replacements):
                    found.sources[outcome.path, old.class_name] = found.classes[old.class_name]
        for change in outcome.changes:
            for before, now in change.renames:
                found.templates[before] = ".".join(now)
    return found


def find_keyed(
    root: Path, suite: Suite, outcomes: Iterable[Outcome], downstream: Sequence[Path] = ()
) -> tuple[KeyedName, ...]:
    """Places in the tree at ``root`` and in ``downstream`` that key on renamed or lost tests, sorted."""
    renamed = renamed_in(outcomes)
    found: set[KeyedName] = set()
    if renamed.tests or renamed.templates:
        keys = KeyedTests(root)
        for place in suite.catalog.name_keys:
            found.update(_in_place(root, place, keys, renamed))
        found.update(_importers(suite, renamed))
        for path in downstream:
            found.update(_downstream(path, renamed))
    return tuple(sorted(found, key=lambda k: (k.place == "downstream", k.path, k.line, k.key)))


def _in_place(root: Path, place: NameKey, keys: KeyedTests, renamed: Renamed) -> Iterator[KeyedName]:
    if place.keyed_by in ("file_name", "json_key"):
        known = keys.in_place(place)
        for (cls, test), becomes in renamed.tests.items():
            key = key_of(place, cls, test)
            for path, line in known.get(key, ()) if UNKNOWN not in test else ():
                yield KeyedName(path, line, place.name, key, becomes, place.meaning)
    elif place.keyed_by == "string" and renamed.templates:
        yield from _decorate_infos(root, place, renamed)


def _decorate_infos(root: Path, place: NameKey, renamed: Renamed) -> Iterator[KeyedName]:
    classes = {cls for cls, _ in renamed.templates}
    for file in _files(root):
        if file.suffix != ".py":
            continue
        data = _read(file)
        if "DecorateInfo" not in data or not any(cls in data for cls in classes):
            continue
        for (cls, test), becomes in renamed.templates.items():
            pattern = rf"""["']{re.escape(cls)}["'],\s*["']{re.escape(test)}["']"""
            for match in re.finditer(pattern, data):
                line = data.count("\n", 0, match.start()) + 1
                yield KeyedName(
                    file.relative_to(root).as_posix(), line, place.name, f"{cls}.{test}", becomes, place.meaning
                )


def _importers(suite: Suite, renamed: Renamed) -> Iterator[KeyedName]:
    """Other modules of the suite that import a class which is gone."""
    for module in suite.modules.values():
        for local, name in module.imports:
            head, _, cls = name.rpartition(".")
            if cls not in renamed.classes or not head:
                continue
            for path in candidate_paths(head, module.path):
                if (path, cls) in renamed.sources and path != module.path:
                    becomes = renamed.sources[path, cls]
                    yield KeyedName(module.path, 1, "imports", f"{head}.{cls}", becomes, f"imported as {local}")
                    break


def _downstream(path: Path, renamed: Renamed) -> Iterator[KeyedName]:
    tests: dict[str, dict[str, str]] = {}
    for (cls, test), becomes in renamed.tests.items():
        tests.setdefault(cls, {})[test] = becomes
    for file in _files(path):
        text = _read(file)
        if not tests.keys() & set(WORD.findall(text)):
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            words = set(WORD.findall(line))
            for cls in sorted(tests.keys() & words):
                hit = sorted(tests[cls].keys() & words)
                for test in hit:
                    meaning = line.strip()[:120]
                    yield KeyedName(str(file), number, "downstream", f"{cls}.{test}", tests[cls][test], meaning)
                if not hit and cls in renamed.classes:
                    yield KeyedName(str(file), number, "downstream", cls, renamed.classes[cls], line.strip()[:120])


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for folder, names, files in os.walk(path):
        names[:] = sorted(n for n in names if n not in SKIPPED_FOLDERS)
        yield from (Path(folder, name) for name in sorted(files) if name.endswith(TEXT_FILES))


def _read(file: Path) -> str:
    try:
        return "" if file.stat().st_size > LARGEST else file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
