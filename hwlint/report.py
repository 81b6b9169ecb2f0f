"""What a check hands to the output formats: the findings that count, and the figures of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hwlint.findings import Finding, Severity
from hwlint.rules.base import Rule


@dataclass(frozen=True, slots=True)
class Statistics:
    """What was looked at, and what was left out of the findings and why."""

    files: int = 0
    """Files checked."""
    suppressed: int = 0
    """Findings that a comment suppresses."""
    ignored: int = 0
    """Findings that the configuration's per-file-ignores leave out."""
    allowlisted: int = 0
    """Files passed over because the allowlist names them."""
    baselined: int = 0
    """Findings that the baseline records."""
    unchanged: int = 0
    """Findings that were there at the revision of ``--since``."""


@dataclass(frozen=True, slots=True)
class Crash:
    """An internal error: hwlint's fault, bound to the file it was working on."""

    path: str
    stage: str
    """The rule's code, or 'scan'."""
    message: str
    """The exception in one line."""
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check, in the order it is shown."""

    findings: tuple[Finding, ...]
    root: Path
    level: str = "full"
    statistics: Statistics = Statistics()
    crashes: tuple[Crash, ...] = ()
    rules: tuple[type[Rule], ...] = ()
    """The rules that ran."""
    revision: str = ""
    """What ``--since`` compared with."""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    """Text of files that was checked instead of what is on disk (``--staged``), by path."""

    @property
    def failing(self) -> bool:
        """Whether any finding is an error or a warning."""
        return any(f.severity is not Severity.INFO for f in self.findings)

    @property
    def rule_names(self) -> dict[str, str]:
        return {rule.code: rule.name for rule in self.rules}
