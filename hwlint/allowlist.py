"""Upstream's allowlist: the files that its TEST_LINTER passes over until they are migrated.

A JSON list of paths relative to the repository's root, or an object with the paths as keys (their values do not matter
to upstream: ``set(json.load(file))`` in tools/linter/adapters/test_linter.py, pytorch/pytorch#190173). It may only get
shorter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from hwlint.atomic import write_atomic
from hwlint.errors import ConfigError

STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
Why = Literal["clean", "missing", "duplicated", "unsorted"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file named in the list."""

    path: str
    line: int = 0
    """Where in the list's own file, from 1; 0 for an entry that is not written yet."""
    value: Any = True
    """In the object form; kept as it is."""


@dataclass(frozen=True, slots=True)
class StaleEntry:
    """An entry that should not be there, or not there."""

    entry: Entry
    why: Why


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The list as read."""

    entries: tuple[Entry, ...] = ()
    form: Literal["list", "object"] = "list"
    newline: str = "\n"

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(entry.path for entry in self.entries)


def load_allowlist(path: Path) -> Allowlist:
    """Read the list at ``path``. Raises ConfigError where it is not there or of another form."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: the allowlist cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: the allowlist is not UTF-8: {error}") from None
    try:
        # Pairs, so that a key written twice is seen twice.
        content = json.loads(text, object_pairs_hook=_Pairs)
    except ValueError as error:
        raise ConfigError(f"{path}: the allowlist is not valid JSON: {error}") from None
    pairs: list[tuple[Any, Any]]
    if isinstance(content, _Pairs):
        pairs = list(content)
    elif isinstance(content, list):
        pairs = [(item, True) for item in content]
    else:
        raise ConfigError(f"{path}: the allowlist must be a JSON list of paths, or an object with paths as keys")
    for name, _ in pairs:
        if not isinstance(name, str):
            raise ConfigError(f"{path}: the allowlist names {json.dumps(name)}, which is not a path")
    entries = tuple(
        Entry(name, line, _plain(value)) for (name, value), line in zip(pairs, _lines(text, [n for n, _ in pairs]))
    )
    newline = "\r\n" if "\r\n" in text else "\n"
    return Allowlist(entries, "object" if isinstance(content, _Pairs) else "list", newline)


def stale_entries(
    allowlist: Allowlist, *, is_clean: Callable[[str], bool], exists: Callable[[str], bool]
) -> tuple[StaleEntry, ...]:
    """Entries that should go or move, in the list's order, each with its first reason.

    ``is_clean``: upstream's linter would find nothing in the file; asked only for files that exist.
    """
    found: list[StaleEntry] = []
    seen: set[str] = set()
    last = ""
    for entry in allowlist.entries:
        if entry.path in seen:
            found.append(StaleEntry(entry, "duplicated"))
        elif not exists(entry.path):
            found.append(StaleEntry(entry, "missing"))
        elif is_clean(entry.path):
            found.append(StaleEntry(entry, "clean"))
        elif entry.path < last:
            found.append(StaleEntry(entry, "unsorted"))
        seen.add(entry.path)
        last = entry.path
    return tuple(found)


def updated(allowlist: Allowlist, stale: Iterable[StaleEntry], add: Iterable[str] = ()) -> Allowlist:
    """The list without its stale entries, sorted, and with ``add``."""
    gone = {s.entry.path for s in stale if s.why in ("clean", "missing")}
    kept = {entry.path: entry for entry in reversed(allowlist.entries) if entry.path not in gone}
    for path in add:
        kept.setdefault(path, Entry(path))
    return replace(allowlist, entries=tuple(kept[path] for path in sorted(kept)))


def render(allowlist: Allowlist) -> str:
    """The list's text, as upstream writes it: two blanks of indentation, a line end at the end."""
    content: object = [entry.path for entry in allowlist.entries]
    if allowlist.form == "object":
        content = {entry.path: entry.value for entry in allowlist.entries}
    return (json.dumps(content, indent=2) + "\n").replace("\n", allowlist.newline)


def save_allowlist(path: Path, allowlist: Allowlist) -> None:
    """Write the list to ``path``, whole or not at all. Raises ConfigError."""
    try:
        write_atomic(path, render(allowlist).encode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: the allowlist cannot be written: {error.strerror or error}") from None


class _Pairs(list[tuple[str, Any]]):
    """A JSON object, in order and with its doubled keys."""


def _plain(value: Any) -> Any:
    if isinstance(value, _Pairs):
        return {key: _plain(inner) for key, inner in value}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _lines(text: str, names: list[str]) -> list[int]:
    """The line of each name: its strings are found in the order in which the parser gave them."""
    lines: list[int] = []
    strings = STRING.finditer(text)
    line, at = 1, 0
    for name in names:
        for match in strings:
            line += text.count("\n", at, match.start())
            at = match.start()
            if json.loads(match.group()) == name:
                break
        lines.append(line)
    return lines
