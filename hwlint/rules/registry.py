"""All rules, by code."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from hwlint.config import Settings
from hwlint.errors import UsageError
from hwlint.rules.base import Rule

_MODULES = (
    "files",
    "contract",
    "classification",
    "devices",
    "profiler",
    "device_apis",
    "gates",
    "lost_tests",
    "generated_names",
    "instantiation",
    "rebound_members",
    "distributed",
)


class UnknownRule(UsageError):
    """No rule has that code, and no code starts with it."""


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule in order of its code; ValueError where two have one code or one name."""
    rules = [rule for name in _MODULES for rule in import_module(f"hwlint.rules.{name}").RULES]
    for attribute in ("code", "name"):
        seen: dict[str, type[Rule]] = {}
        for rule in rules:
            other = seen.setdefault(getattr(rule, attribute), rule)
            if other is not rule:
                raise ValueError(f"{rule.__name__} and {other.__name__} have the same {attribute}")
    return tuple(sorted(rules, key=lambda rule: rule.code))


def find_rule(code: str) -> type[Rule]:
    """The rule of that code or name, in any case; :class:`UnknownRule` where there is none."""
    wanted = code.strip().lower()
    for rule in all_rules():
        if wanted in (rule.code.lower(), rule.name):
            return rule
    raise UnknownRule(_unknown(code))


def rules_for(settings: Settings) -> tuple[type[Rule], ...]:
    """The rules that run: those of the level that ``select`` and ``ignore`` let through.

    :class:`UnknownRule` where one of the settings' codes, or beginnings of codes, names no rule.
    """
    per_file = (code for _, codes in settings.per_file_ignores for code in codes)
    for code in (*settings.select, *settings.ignore, *per_file, *(code for code, _ in settings.severity)):
        if not any(rule.code.startswith(code) for rule in all_rules()):
            raise UnknownRule(_unknown(code))
    return tuple(r for r in all_rules() if settings.level in r.levels and settings.is_selected(r.code))


def _unknown(text: str) -> str:
    from difflib import get_close_matches

    known = [name for rule in all_rules() for name in (rule.code, rule.name)]
    # The letter O for a zero is the slip that the distance between words does not see.
    close = get_close_matches(text.strip().upper().replace("O", "0"), known, 1) or get_close_matches(
        text.strip().lower(), known, 1
    )
    return f"no rule {text!r}" + (f"; did you mean {close[0]}?" if close else "; 'hwlint rule' lists them all")
