"""What a progress report is made of: the state of each test class and file at one revision, as frozen values.

Everything that a report shows is computed from a :class:`Snapshot`, so one that was stored years ago can be shown,
compared and counted like a fresh one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

UNCLASSIFIED = ""
"""The label of a class without a classification."""

StepKind = Literal["repair", "migrate", "migrate-partly", "by-hand", "unbind", "contract", "unlist", "done", "empty"]
"""What a file needs next, from the model's point of view; :mod:`hwlint.progress.steps` says when each applies."""


STATES = {
    "broken": "cannot be read",
    "open": "no class is classified",
    "partial": "some classes are classified",
    "bound": "classified, but tagged classes are bound to a device",
    "contract": "classified, but a class breaks the contract of its label",
    "done": "nothing is left to do",
    "empty": "no test class",
}
"""The states of a file, worst first."""


@dataclass(frozen=True, slots=True)
class Construct:
    """One thing that binds a tagged class to a device."""

    code: str
    """Of the rule that found it."""
    name: str
    """'torch.cuda.synchronize', '"cuda"', 'onlyCUDA'."""
    count: int = 1


@dataclass(frozen=True, slots=True)
class ClassState:
    """One test class: a class with tests of its own, or one that unittest runs with inherited ones."""

    name: str
    """Qualified within the module."""
    line: int
    label: str
    """Effective classification, '' for none."""
    inherited: bool
    """The classification comes from a base."""
    tests: int
    """Test methods of its own, as written: a parametrized one counts once."""
    inherited_tests: int
    """Test methods that it has from bases in the tree, or copied from a template (``copy_tests``)."""
    verdict: str = ""
    """The label that the classifier gives: one of the labels or SPLIT; '' where it was not asked."""
    confidence: str = ""
    bound: tuple[Construct, ...] = ()
    """What still binds it to one device although its label says otherwise."""
    refusals: tuple[str, ...] = ()
    """Why ``migrate`` would not classify it by itself; empty where it would, and for a class that has its label."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a file needs next."""

    kind: StepKind
    command: str = ""
    """The command line to run; '' where there is nothing to run."""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileState:
    """One test file."""

    path: str
    group: str
    owners: tuple[str, ...]
    """Of its ``# Owner(s):`` comment."""
    code_owners: tuple[str, ...]
    """Of the CODEOWNERS file."""
    classes: tuple[ClassState, ...]
    function_tests: int = 0
    """Test functions outside of any class, which no classification can select."""
    contract: tuple[Construct, ...] = ()
    """What its classified classes have against the contract of their labels (HW102-HW107)."""
    clean: bool = False
    """Upstream's linter finds nothing in it."""
    allowlisted: bool = False
    problem: str = ""
    """Why it could not be read."""
    step: Step = Step("empty")

    @property
    def unclassified(self) -> int:
        return sum(c.label == UNCLASSIFIED for c in self.classes)

    @property
    def bound(self) -> int:
        return sum(bool(c.bound) for c in self.classes)

    @property
    def state(self) -> str:
        """One of STATES, the first that is true."""
        if self.problem:
            return "broken"
        if not self.classes:
            return "empty"
        if self.unclassified == len(self.classes):
            return "open"
        if self.unclassified:
            return "partial"
        if self.bound:
            return "bound"
        return "contract" if self.contract else "done"


@dataclass(frozen=True, slots=True)
class StaleEntry:
    """An entry of the allowlist that should go."""

    path: str
    why: str
    """'clean' or 'missing'."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a report is about and what made it: enough to make it again."""

    revision: str = ""
    """The commit, '' where there is no git."""
    date: str = ""
    """The commit's date (ISO 8601, UTC), or the one that was asked for."""
    modified: bool = False
    """Files of the report differ from the commit."""
    hwlint: str = ""
    """hwlint's version."""
    paths: tuple[str, ...] = ()
    """What was looked at; empty for the configured paths."""
    settings: tuple[tuple[str, str], ...] = ()
    """The settings that matter, as text."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a suite at one revision."""

    origin: Origin
    files: tuple[FileState, ...]
    """By path."""
    allowlist: str = ""
    """The allowlist's path, '' where there is none."""
    allowlist_entries: int = 0
    stale: tuple[StaleEntry, ...] = ()
