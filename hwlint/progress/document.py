"""Snapshots and histories <-> JSON, as docs/progress.md describes it.

``VERSION`` changes when a key changes its meaning or goes; new keys may come without.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hwlint.errors import UsageError
from hwlint.progress.history.course import Course, Point
from hwlint.progress.history.estimate import Estimate
from hwlint.progress.model import UNCLASSIFIED, ClassState, Construct, FileState, Origin, Snapshot, StaleEntry, Step
from hwlint.progress.steps import cheapest
from hwlint.progress.tally import Rows, Tally, by_code_owner, by_folder, by_group, by_owner, constructs, tally
from hwlint.scan.facts import LABELS

VERSION = 1
KIND = "hwlint-progress"


def snapshot_document(snapshot: Snapshot) -> dict[str, Any]:
    """All that a snapshot holds; :func:`read_snapshot` reads it back."""
    origin = snapshot.origin
    return {
        "version": VERSION,
        "kind": KIND,
        "tool": {"name": "hwlint", "version": origin.hwlint},
        "revision": origin.revision,
        "date": origin.date,
        "modified": origin.modified,
        "paths": list(origin.paths),
        "settings": dict(origin.settings),
        "allowlist": {
            "path": snapshot.allowlist,
            "entries": snapshot.allowlist_entries,
            "stale": [asdict(entry) for entry in snapshot.stale],
        },
        "files": [_file(file) for file in snapshot.files],
    }


def report_document(
    snapshot: Snapshot, depth: int, course: Course | None = None, estimate: Estimate | None = None
) -> dict[str, Any]:
    """The snapshot with the sums that the other formats show, and the history."""
    document = snapshot_document(snapshot)
    files = document.pop("files")
    document["totals"] = tally_document(tally(snapshot.files))
    document["groups"] = _rows(by_group(snapshot.files))
    document["folders"] = _rows(by_folder(snapshot.files, depth))
    document["owners"] = _rows(by_owner(snapshot.files))
    document["code_owners"] = _rows(by_code_owner(snapshot.files))
    document["constructs"] = [asdict(one) for one in constructs(snapshot.files)]
    document["cheapest"] = [file.path for file in cheapest(snapshot.files)]
    if course is not None:
        document["history"] = course_document(course, estimate)
    document["files"] = files
    return document


def course_document(course: Course, estimate: Estimate | None) -> dict[str, Any]:
    return {
        "every": course.every,
        "notes": list(course.notes),
        "points": [_point(point) for point in course.points],
        "estimate": None if estimate is None else asdict(estimate),
    }


def tally_document(one: Tally) -> dict[str, Any]:
    return counts_document(one) | {"classes_bound": one.bound, "classes_split": one.split}


def counts_document(one: Tally) -> dict[str, Any]:
    """A tally without what takes verdicts and findings, which points of a history from git do not have."""
    return {
        "files": one.files,
        "files_with_classes": one.files_with_classes,
        "files_classified": one.files_classified,
        "files_allowlisted": one.allowlisted,
        "files_broken": one.broken,
        "classes": one.classes,
        "classes_unclassified": one.unclassified,
        "tests": one.tests,
        "function_tests": one.function_tests,
        "labels": {label or "unclassified": asdict(count) for label, count in one.labels.items()},
    }


def _rows(rows: Rows) -> dict[str, Any]:
    return {name: tally_document(row) for name, row in rows.items()}


def _point(point: Point) -> dict[str, Any]:
    return {
        "revision": point.revision,
        "date": point.date,
        "allowlist_entries": point.allowlist_entries,
        "totals": counts_document(point.totals),
        "groups": {name: counts_document(row) for name, row in point.groups.items()},
    }


def _file(file: FileState) -> dict[str, Any]:
    return {
        "path": file.path,
        "state": file.state,
        "group": file.group,
        "owners": list(file.owners),
        "code_owners": list(file.code_owners),
        "allowlisted": file.allowlisted,
        "clean": file.clean,
        "problem": file.problem,
        "function_tests": file.function_tests,
        "contract": [asdict(one) for one in file.contract],
        "step": {"kind": file.step.kind, "command": file.step.command, "reasons": list(file.step.reasons)},
        "classes": [_class(cls) for cls in file.classes],
    }


def _class(cls: ClassState) -> dict[str, Any]:
    return {
        "name": cls.name,
        "line": cls.line,
        "label": cls.label or None,
        "inherited": cls.inherited,
        "tests": cls.tests,
        "inherited_tests": cls.inherited_tests,
        "verdict": cls.verdict or None,
        "confidence": cls.confidence or None,
        "bound": [asdict(one) for one in cls.bound],
        "refusals": list(cls.refusals),
    }


def dumps(document: dict[str, Any]) -> str:
    """For people and programs: indented, ASCII, one line end at the end."""
    return json.dumps(document, indent=2) + "\n"


def dump_line(snapshot: Snapshot) -> str:
    """A snapshot as one line of a file of snapshots."""
    return json.dumps(snapshot_document(snapshot), separators=(",", ":")) + "\n"


def load_snapshots(path: Path) -> list[Snapshot]:
    """The snapshots in a file: one JSON document, or one a line, in the file's order. Raises UsageError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8: {error}") from None
    return [_loaded(path, line, content) for line, content in _documents(path, text)]


def load_snapshot(path: Path) -> Snapshot:
    """The snapshot in a file; the last one where there are several. Raises UsageError."""
    snapshots = load_snapshots(path)
    if not snapshots:
        raise UsageError(f"{path}: there is no snapshot in it")
    return snapshots[-1]


def _documents(path: Path, text: str) -> Iterable[tuple[int, Any]]:
    try:
        return [(0, json.loads(text))] if text.strip() else []
    except ValueError:
        pass
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                found.append((number, json.loads(line)))
            except ValueError as error:
                raise UsageError(f"{path}:{number}: is not valid JSON: {error}") from None
    return found


def _loaded(path: Path, line: int, content: Any) -> Snapshot:
    where = f"{path}:{line}" if line else str(path)
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise UsageError(f"{where}: is no snapshot of hwlint progress (make one with --format json or --save)")
    if content.get("version") != VERSION:
        raise UsageError(f"{where}: is of version {content.get('version')!r}; this hwlint reads version {VERSION}")
    try:
        return read_snapshot(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{where}: is no whole snapshot ({type(error).__name__}: {error})") from None


def read_snapshot(document: dict[str, Any]) -> Snapshot:
    """The snapshot that :func:`snapshot_document` wrote; KeyError, TypeError or ValueError where a part is missing
    or wrong.
    """
    allowlist = document["allowlist"]
    return Snapshot(
        origin=Origin(
            revision=str(document["revision"]),
            date=str(document["date"]),
            modified=bool(document["modified"]),
            hwlint=str(document["tool"]["version"]),
            paths=tuple(map(str, document["paths"])),
            settings=tuple((str(k), str(v)) for k, v in document["settings"].items()),
        ),
        files=tuple(_read_file(file) for file in document["files"]),
        allowlist=str(allowlist["path"]),
        allowlist_entries=int(allowlist["entries"]),
        stale=tuple(StaleEntry(str(s["path"]), str(s["why"])) for s in allowlist["stale"]),
    )


def _read_file(file: dict[str, Any]) -> FileState:
    step = file["step"]
    return FileState(
        path=str(file["path"]),
        group=str(file["group"]),
        owners=tuple(map(str, file["owners"])),
        code_owners=tuple(map(str, file["code_owners"])),
        classes=tuple(_read_class(cls) for cls in file["classes"]),
        function_tests=int(file["function_tests"]),
        contract=_read_constructs(file["contract"]),
        clean=bool(file["clean"]),
        allowlisted=bool(file["allowlisted"]),
        problem=str(file["problem"]),
        step=Step(step["kind"], str(step["command"]), tuple(map(str, step["reasons"]))),
    )


def _read_class(cls: dict[str, Any]) -> ClassState:
    label = cls["label"] or UNCLASSIFIED
    if label not in (*LABELS, UNCLASSIFIED):
        raise ValueError(f"{label!r} is no label")
    return ClassState(
        name=str(cls["name"]),
        line=int(cls["line"]),
        label=label,
        inherited=bool(cls["inherited"]),
        tests=int(cls["tests"]),
        inherited_tests=int(cls["inherited_tests"]),
        verdict=cls["verdict"] or "",
        confidence=cls["confidence"] or "",
        bound=_read_constructs(cls["bound"]),
        refusals=tuple(map(str, cls["refusals"])),
    )


def _read_constructs(found: list[dict[str, Any]]) -> tuple[Construct, ...]:
    return tuple(Construct(str(c["code"]), str(c["name"]), int(c["count"])) for c in found)
