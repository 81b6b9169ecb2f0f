"""A JSON document with one row a line, which reads and diffs well, and is made with little memory."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

ROWS = "\0rows"
"""Stands in a document for its rows."""


def dump_rows(document: dict[str, Any], rows: Iterable[dict[str, Any]]) -> str:
    """The indented document with ``rows`` as a list where ROWS stands, ASCII only."""
    head, tail = json.dumps(document, indent=2).split(json.dumps(ROWS))
    listed = ",\n".join(map(json.JSONEncoder().encode, rows))
    return f"{head}[\n{listed}\n]{tail}\n" if listed else f"{head}[]{tail}\n"
