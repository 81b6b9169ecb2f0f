"""The proof that goes with every edit: what must hold of a file before and after, whatever the codemod.

It parses; its encoding, byte order mark, kinds of line end and final newline are the same; no comment is lost; no
rule finds an error that it did not find before; every test lives on, on every device. What fails is a bug of ours:
the change is taken back, and said so.
"""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from codemods.edit import SourceFile, Splice
from codemods.plan import Change, TestKey
from codemods.rules import dependents, errors
from hwlint.config import Settings
from hwlint.findings import Finding
from hwlint.scan.facts import ModuleFacts
from hwlint.suite.ids import module_ids
from hwlint.suite.manifest import Manifest, compare
from hwlint.suite.model import Suite


@dataclass(frozen=True)
class State:
    """One file as hwlint sees it at one moment."""

    file: SourceFile
    module: ModuleFacts
    suite: Suite
    """Linked with ``module``."""


def renames_of(changes: Iterable[Change]) -> dict[TestKey, TestKey]:
    """Old to new (class, test), through all changes in their order."""
    found: dict[TestKey, TestKey] = {}
    for change in changes:
        for old, new in change.renames:
            origins = [key for key, value in found.items() if value == old] or [old]
            for origin in origins:
                found[origin] = new
    return found


def check(
    before: State, after: State, splices: Sequence[Splice], changes: Sequence[Change], settings: Settings
) -> list[str]:
    """What is wrong with ``after``, in words; nothing where all is well."""
    problem = after.module.problem
    if problem is not None:
        return [f"the result does not parse: line {problem.line}: {problem.message}"]
    renames = renames_of(changes)
    found = check_text(before.file, after.file, splices)
    found += check_findings(before, after, settings, renames)
    found += check_manifest(manifest(before, after, renames))
    return found


def check_text(before: SourceFile, after: SourceFile, splices: Sequence[Splice]) -> list[str]:
    """Encoding, line ends and comments."""
    found = []
    if (before.source.encoding, before.source.bom) != (after.source.encoding, after.source.bom):
        found.append("the encoding or byte order mark is not what it was")
    if not _line_ends(after.text) <= _line_ends(before.text) | ({"\n"} if not _line_ends(before.text) else set()):
        found.append("there is a kind of line end that was not there")
    if before.text.endswith(("\n", "\r")) != after.text.endswith(("\n", "\r")):
        found.append("the newline at the end of the file is not what it was")
    if _touches_comments(before, after, splices):
        lost = Counter(comments(before.text)) - Counter(comments(after.text))
        found += (f"a comment is lost: {text}" for text in lost)
    return found


def _line_ends(text: str) -> set[str]:
    crlf = text.count("\r\n")
    counts = {"\r\n": crlf, "\r": text.count("\r") - crlf, "\n": text.count("\n") - crlf}
    return {kind for kind, times in counts.items() if times}


def _touches_comments(before: SourceFile, after: SourceFile, splices: Sequence[Splice]) -> bool:
    """Whether any line with a '#' is among those that the splices change: only then a comment can be lost."""
    shift = 0
    for one in sorted(splices, key=lambda s: (s.start, s.end)):
        if "#" in _lines(before, one.start, one.end):
            return True
        if "#" in _lines(after, one.start + shift, one.start + shift + len(one.text)):
            return True
        shift += len(one.text) - (one.end - one.start)
    return False


def _lines(file: SourceFile, start: int, end: int) -> str:
    return file.text[file.line_start(file.line_of(start)) : file.line_end(min(file.line_of(end), file.line_count))]


def comments(text: str) -> list[str]:
    """All comments of the source, in order."""
    reader = io.StringIO(text.replace("\r\n", "\n")).readline
    try:
        return [t.string.rstrip() for t in tokenize.generate_tokens(reader) if t.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError):
        # tokenize is stricter than the parser here and there: then every '#' counts.
        return [line.partition("#")[2].rstrip() for line in text.splitlines() if "#" in line]


def check_findings(before: State, after: State, settings: Settings, renames: Mapping[TestKey, TestKey]) -> list[str]:
    """Errors that are there now and were not before, in this file or in one whose classes derive from its own."""
    found = _new_errors("upstream", before, after, settings, renames, before.module.path)
    found += _new_errors("full", before, after, settings, renames, before.module.path)
    for path in dependents(after.suite, after.module.path):
        found += _new_errors("full", before, after, settings, renames, path)
    return found


def _new_errors(
    level: Literal["upstream", "full"],
    before: State,
    after: State,
    settings: Settings,
    renames: Mapping[TestKey, TestKey],
    path: str,
) -> list[str]:
    old = errors(level, before.suite.modules[path], before.suite, settings)
    known = Counter(_identity(f, renames) for f in old)
    # What was wrong with a class is wrong with each class that takes over some of its tests.
    handed_on = {(f.code, cls, f.detail) for f in old for cls in _heirs(f.symbol, renames)}
    found = []
    for finding in errors(level, after.suite.modules[path], after.suite, settings):
        identity = _identity(finding, {})
        if known[identity] > 0:
            known[identity] -= 1
        elif identity not in handed_on:
            place = f"line {finding.span.line}" if path == after.module.path else f"{path}:{finding.span.line}"
            found.append(f"a new error at level {level}: {finding.code} {finding.message} ({place})")
    return found


def _identity(finding: Finding, renames: Mapping[TestKey, TestKey]) -> tuple[str, str, str]:
    """What a finding is recognized by, as it will be called afterwards."""
    cls, _, test = finding.symbol.rpartition(".")
    moved = renames.get((cls, test))
    return (finding.code, ".".join(moved) if moved is not None else finding.symbol, finding.detail)


def _heirs(cls: str, renames: Mapping[TestKey, TestKey]) -> set[str]:
    """Other classes that tests of ``cls`` have moved to."""
    return {new[0] for old, new in renames.items() if old[0] == cls != new[0]}


def manifest(before: State, after: State, renames: Mapping[TestKey, TestKey]) -> Manifest:
    """The file's tests before and after."""
    path = before.module.path
    return compare(module_ids(before.suite, path), module_ids(after.suite, path), renames)


def check_manifest(found: Manifest) -> list[str]:
    return [f"a test is lost{f' on {e.device}' if e.device else ''}: {e.before}" for e in found.lost]
