"""Rows for a spreadsheet: one for each file, or one for each point of a history."""

from __future__ import annotations

import csv
from io import StringIO

from hwlint.discover import printable
from hwlint.progress.history.course import Course
from hwlint.progress.model import Snapshot
from hwlint.progress.report import ProgressReport
from hwlint.progress.tally import COLUMNS, tally


def render_csv(report: ProgressReport) -> str:
    """The files of the snapshot; with a history, its points instead."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows(_points(report.course) if report.course is not None else _files(report.snapshot))
    return stream.getvalue()


def _files(snapshot: Snapshot) -> list[list[object]]:
    labels = [label or "unclassified" for label in COLUMNS]
    header = [
        *[
            "path",
            "state",
            "group",
            "owners",
            "code_owners",
            "allowlisted",
            "classes",
            "tests",
            *labels,
            "bound",
            "split",
        ],
        *["next_step", "command", "reasons", "revision", "date"],
    ]
    rows: list[list[object]] = [list(header)]
    for file in snapshot.files:
        one = tally([file])
        counts = [one.labels[label].classes for label in COLUMNS]
        cells = [file.path, file.state, file.group, "; ".join(file.owners), "; ".join(file.code_owners)]
        tail = [file.step.kind, file.step.command, "; ".join(file.step.reasons)]
        rows.append(
            [*map(_safe, cells), int(file.allowlisted), one.classes, one.tests, *counts, one.bound, one.split]
            + [*map(_safe, tail), snapshot.origin.revision, snapshot.origin.date]
        )
    return rows


def _points(course: Course) -> list[list[object]]:
    labels = [label or "unclassified" for label in COLUMNS]
    rows: list[list[object]] = [["date", "revision", "files", "classes", "tests", *labels, "allowlist_entries"]]
    for point in course.points:
        counts = [point.totals.labels[label].classes for label in COLUMNS]
        entries: object = "" if point.allowlist_entries is None else point.allowlist_entries
        rows.append(
            [point.date, point.revision, point.totals.files, point.totals.classes, point.totals.tests, *counts, entries]
        )
    return rows


def _safe(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    line = printable(text)
    return f"'{line}" if line[:1] in ("=", "+", "-", "@", "\t", "\r") else line
