"""What a rule is: code, name, severity, why, a bad and a good example (which are its tests), and a check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from hwlint.catalog import Catalog
from hwlint.config import Settings
from hwlint.findings import Finding, Severity
from hwlint.scan.facts import ModuleFacts
from hwlint.suite.model import Suite


@dataclass(frozen=True, slots=True)
class RuleContext:
    """What a check may look at: the module under check, the suite around it, the facts, the settings."""

    module: ModuleFacts
    suite: Suite
    catalog: Catalog
    settings: Settings


class Rule:
    """Base of the rules. A subclass sets the fields and yields findings from :meth:`check`.

    ``bad`` and ``good`` are whole small modules: the tests run the rule on both and expect it to fire on the first.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    """Kebab case, naming the bad pattern."""
    severity: ClassVar[Severity] = Severity.ERROR
    summary: ClassVar[str]
    """What it finds, one line."""
    why: ClassVar[str]
    """Why that is bad, in a few sentences, with where the fact is from."""
    bad: ClassVar[str]
    good: ClassVar[str]
    bad_path: ClassVar[str] = "test/test_example.py"
    example_settings: ClassVar[dict[str, Any]] = {}
    """Settings under which the rule fires on ``bad``, where the defaults do not do."""
    fix_safety: ClassVar[str] = ""
    levels: ClassVar[tuple[Literal["upstream", "full"], ...]] = ("full",)
    references: ClassVar[tuple[str, ...]] = ()

    def check(self, context: RuleContext) -> Iterator[Finding]:
        raise NotImplementedError
