"""A report in the format its reader uses. Each is a module with ``render(report, view) -> str``, imported when used."""

from __future__ import annotations

from importlib import import_module

from hwlint.output.view import View
from hwlint.report import Report

FORMATS = ("text", "concise", "json", "lintrunner", "sarif", "github")
PLAIN_FORMATS = ("text", "concise")
"""Those for people, in the terminal's encoding; the others are UTF-8 whatever the terminal."""


def render(format_name: str, report: Report, view: View) -> str:
    """The report in the format ``format_name``, one of FORMATS, ending in a newline unless it is empty."""
    text: str = import_module(f"hwlint.output.{format_name}").render(report, view)
    return text
