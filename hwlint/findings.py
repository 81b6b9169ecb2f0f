"""What a rule reports: one cause, with the places that show it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from hwlint.scan.facts import Span


class Severity(str, Enum):
    """In falling order; only errors and warnings make ``check`` exit with 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        return ("error", "warning", "info").index(self.value)


Applicability = Literal["safe", "unsafe", "shown", "none"]


@dataclass(frozen=True, slots=True)
class Related:
    """Another place of the same cause."""

    path: str
    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Fix:
    """How the finding is mended: a text for people, and where it is exact, the replacement of ``span``."""

    message: str
    applicability: Applicability = "shown"
    replacement: str | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One report of one rule."""

    code: str
    path: str
    span: Span
    severity: Severity
    message: str
    """One line, without the position."""
    symbol: str = ""
    """'Class' or 'Class.test': what it is about, stable under line moves (baseline, --since)."""
    detail: str = ""
    """What tells it from another finding of the same rule on the same symbol, stable under line moves."""
    role: str = ""
    """Of a device use: placement, comparison, text ..."""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    upstream: bool = False
    """Reported by upstream's linter too."""

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        return (self.path, self.span.line, self.span.column, self.code, self.message)

    @property
    def fingerprint(self) -> tuple[str, str, str, str]:
        """Stable when lines move: what a baseline and ``--since`` compare."""
        return (self.path, self.code, self.symbol, self.detail)
