"""The report as one page that needs nothing else: no file beside it, no request, no server.

Templates by jinja2, charts by pygal: the extra ``hwlint[report]``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hwlint.discover import printable
from hwlint.errors import UsageError
from hwlint.progress.model import STATES, FileState
from hwlint.progress.render import tables
from hwlint.progress.report import ProgressReport
from hwlint.progress.steps import TITLES
from hwlint.progress.tally import COLUMNS, by_folder, tally

PAGE = Path(__file__).with_name("page")


def render_page(report: ProgressReport) -> str:
    """The page. Raises UsageError where jinja2 or pygal is not installed."""
    try:
        import jinja2
        import pygal  # noqa: F401
    except ImportError as error:
        raise UsageError(f"--format html needs {error.name}: pip install 'hwlint[report]'") from None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"number": tables.number, "percent": tables.percent, "breakable": _breakable}
    environment.tests["share"] = lambda cell: isinstance(cell, tables.Share)
    environment.tests["integer"] = lambda cell: isinstance(cell, int)
    text: str = environment.get_template("page.html.j2").render(_context(report))
    return text


def _breakable(path: str) -> Any:
    """The path with places where a browser may break it."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([/_])", r"\1<wbr>", str(escape(path))))


def _context(report: ProgressReport) -> dict[str, Any]:
    from dataclasses import replace

    from hwlint.progress.render.charts import burn_down, folders

    snapshot = report.snapshot
    total = tally(snapshot.files)
    whole = replace(report, rows=0)
    course = report.course
    return {
        "css": (PAGE / "page.css").read_text(encoding="utf-8"),
        "js": (PAGE / "page.js").read_text(encoding="utf-8"),
        "origin": snapshot.origin,
        "origin_line": tables.origin_line(snapshot.origin),
        "snapshot": snapshot,
        "total": total,
        "labels": [(label or "unclassified", total.labels[label]) for label in COLUMNS],
        "label_table": tables.labels_table(total),
        "tally_tables": tables.tally_tables(whole),
        "bound_table": tables.bound_table(snapshot, 0),
        "steps_table": tables.steps_table(snapshot),
        "allowlist_table": tables.allowlist_table(snapshot, 0),
        "history_table": None if course is None else tables.history_table(course, whole),
        "pace": tables.pace_lines(report),
        "burn_down": None if course is None else burn_down(course, report.estimate),
        "folders": folders(by_folder(snapshot.files, report.depth)),
        "files": [_file(file) for file in snapshot.files],
        "states": [(state, words) for state, words in STATES.items() if any(f.state == state for f in snapshot.files)],
        "steps": [(kind, title) for kind, title in TITLES.items() if any(f.step.kind == kind for f in snapshot.files)],
        "groups": sorted({f.group for f in snapshot.files}),
        "owners": sorted({owner for f in snapshot.files for owner in (*f.owners, *f.code_owners)}),
    }


def _file(file: FileState) -> dict[str, Any]:
    one = tally([file])
    return {
        "path": printable(file.path),
        "state": file.state,
        "state_order": list(STATES).index(file.state),
        "group": file.group,
        "owners": [*file.owners, *file.code_owners],
        "allowlisted": file.allowlisted,
        "classes": one.classes,
        "tests": one.tests,
        "unclassified": one.unclassified,
        "bound": one.bound,
        "labels": [(label, count.classes) for label, count in one.labels.items() if label and count.classes],
        "step": file.step.kind,
        "step_order": list(TITLES).index(file.step.kind),
        "step_title": TITLES[file.step.kind],
        "command": printable(file.step.command),
        "reasons": [printable(reason) for reason in file.step.reasons],
    }
