"""What hwlint's rules say of one module, asked in the middle of a migration."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from hwlint.config import Settings
from hwlint.findings import Finding, Severity
from hwlint.rules.base import RuleContext
from hwlint.rules.registry import rules_for
from hwlint.scan.facts import ModuleFacts
from hwlint.suite.model import Suite


def findings(
    level: Literal["upstream", "full"], module: ModuleFacts, suite: Suite, settings: Settings
) -> tuple[Finding, ...]:
    """All that the rules of ``level`` find in ``module``, whatever the settings select or a comment suppresses."""
    settings = replace(settings, level=level, select=(), ignore=(), per_file_ignores=(), severity=())
    context = RuleContext(module, suite, suite.catalog, settings)
    found = [finding for rule in rules_for(settings) for finding in rule().check(context)]
    return tuple(sorted(found, key=lambda f: f.sort_key))


def errors(
    level: Literal["upstream", "full"], module: ModuleFacts, suite: Suite, settings: Settings
) -> tuple[Finding, ...]:
    """Those of :func:`findings` that are errors."""
    return tuple(f for f in findings(level, module, suite, settings) if f.severity is Severity.ERROR)


def dependents(suite: Suite, path: str) -> tuple[str, ...]:
    """Paths of other modules with classes that derive from those of ``path``."""
    found = (other.path for cls in suite.classes_in(path) for other in cls.subclasses())
    return tuple(dict.fromkeys(other for other in found if other != path))
