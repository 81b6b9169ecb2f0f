"""How a report is shown, whatever the format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hwlint.output.source import Sources


@dataclass(frozen=True, slots=True)
class View:
    """Source text and the reader's wishes."""

    sources: Sources
    color: bool = False
    statistics: bool = False
    """Counts by rule in place of the single findings."""
    summary: bool = True
    """Whether text output ends with a line that sums up."""
    replacements: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The whole text of a file before and after its fixes, by path (lintrunner takes one replacement a file)."""
