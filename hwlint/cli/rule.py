"""``hwlint rule``: what a rule finds, why, and how to mend it."""

from __future__ import annotations

from typing import Any

import click

from hwlint.cli.output import write_output
from hwlint.rules.base import Rule
from hwlint.rules.registry import all_rules, find_rule

FORMATS = ("text", "json", "markdown")


@click.command("rule")
@click.argument("code", required=False)
@click.option("--format", "format_name", type=click.Choice(FORMATS), default="text", show_default=True)
def rule(code: str | None, format_name: str) -> None:
    """Explain the rule CODE (a code such as HW101, or a name); without CODE, list all rules."""
    if format_name == "json":
        import json

        document = [_document(rule) for rule in all_rules()] if code is None else _document(find_rule(code))
        write_output(json.dumps(document, indent=2) + "\n")
    elif format_name == "markdown":
        rules = all_rules() if code is None else (find_rule(code),)
        write_output("\n".join(_markdown(rule, heading=code is None) for rule in rules))
    else:
        write_output(_table(all_rules()) if code is None else _text(find_rule(code)))


def _table(rules: tuple[type[Rule], ...]) -> str:
    width = max(len(rule.name) for rule in rules)
    rows = (f"{r.code}  {r.severity.value:<7}  {','.join(r.levels):<13}  {r.name:<{width}}  {r.summary}" for r in rules)
    return "".join(f"{row}\n" for row in rows)


def _text(rule: type[Rule]) -> str:
    parts = [
        f"{rule.code} {rule.name} ({rule.severity.value}; level {', '.join(rule.levels)})",
        rule.summary,
        _wrapped(rule.why),
        f"Bad:\n\n{_indented(rule.bad)}",
        f"Good:\n\n{_indented(rule.good)}",
    ]
    if rule.fix_safety:
        parts.append(_wrapped(f"Fix: {rule.fix_safety}"))
    if rule.references:
        parts.append("\n".join(["References:", *(f"  {reference}" for reference in rule.references)]))
    parts.append(f"Suppress with:  # hwlint: ignore[{rule.code}]  the reason")
    return "\n\n".join(parts) + "\n"


def _markdown(rule: type[Rule], *, heading: bool) -> str:
    mark = "##" if heading else "#"
    lines = [
        f"{mark} {rule.code} {rule.name}",
        "",
        f"{rule.summary} *Severity: {rule.severity.value}; level: {', '.join(rule.levels)}.*",
        "",
        " ".join(rule.why.split()),
        "",
        "Bad:",
        "",
        f"```python\n{rule.bad.strip()}\n```",
        "",
        "Good:",
        "",
        f"```python\n{rule.good.strip()}\n```",
    ]
    if rule.fix_safety:
        lines += ["", f"**Fix.** {' '.join(rule.fix_safety.split())}"]
    if rule.references:
        lines += ["", "References:", "", *(f"- {reference}" for reference in rule.references)]
    return "\n".join(lines) + "\n"


def _document(rule: type[Rule]) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "levels": list(rule.levels),
        "summary": rule.summary,
        "why": " ".join(rule.why.split()),
        "bad": rule.bad,
        "good": rule.good,
        "fix_safety": " ".join(rule.fix_safety.split()),
        "references": list(rule.references),
    }


def _wrapped(text: str) -> str:
    import textwrap

    return textwrap.fill(" ".join(text.split()), 100)


def _indented(code: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in code.strip("\n").splitlines())
