"""Conditions in negation normal form, and how they flatten to a list of requirements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from hwlint.scan.facts import Requirement

Combine = Literal["", "all", "any", "mixed"]
Condition = tuple[tuple[Requirement, ...], Combine]


@dataclass(frozen=True, slots=True)
class Formula:
    """A condition in negation normal form: a leaf with its requirements, or 'all'/'any' of parts."""

    kind: Literal["leaf", "all", "any"]
    requirements: tuple[Requirement, ...] = ()
    """Of a leaf: what it asks for, then what that implies."""
    parts: tuple[Formula, ...] = ()
    negative: bool = False
    """Of a leaf: it has to be missing. What it implies need not be."""
    mixed: bool = False
    """A leaf that stands for a constant whose requirements combine in both ways."""


TRUE = Formula("all")
FALSE = Formula("any")


def flatten(formula: Formula) -> Condition:
    """A formula as a flat list: its shape is kept as far as 'all', 'any' and 'mixed' tell."""
    formula = _simplified(formula)
    if formula.kind == "leaf":
        return tuple(dict.fromkeys(_asked_for(formula))), "mixed" if formula.mixed else ""
    leaves = list(_leaves(formula))
    if not leaves:
        return (), ""
    mixed = any(part.kind != "leaf" or part.mixed for part in formula.parts)
    # In an alternative only the thing asked for counts: what it implies does not hold for the others.
    implied = formula.kind == "all" and not mixed
    requirements: dict[Requirement, None] = {}
    for leaf in leaves:
        asked = _asked_for(leaf)
        requirements.update(dict.fromkeys(asked if implied or leaf.mixed else asked[:1]))
    combine: Combine = "mixed" if mixed else "all" if formula.kind == "all" else "any"
    return tuple(requirements), combine if len(leaves) > 1 else ""


def _asked_for(formula: Formula) -> tuple[Requirement, ...]:
    """The requirements of a leaf."""
    if formula.negative and formula.mixed:
        return tuple(replace(r, absent=not r.absent) for r in formula.requirements)
    first = formula.requirements[0]
    return (replace(first, absent=not first.absent),) if formula.negative else formula.requirements


def _simplified(formula: Formula) -> Formula:
    if formula.kind == "leaf":
        return formula
    parts: list[Formula] = []
    for part in map(_simplified, formula.parts):
        if part.kind != "leaf" and not part.parts:
            if part.kind == formula.kind:
                continue  # true in 'all', false in 'any'
            return part
        parts.extend(part.parts if part.kind == formula.kind else (part,))
    # What holds by another part alone adds nothing: 'a and (a or b)' is 'a'.
    unique = tuple(p for p in dict.fromkeys(parts) if not any(inner in parts for inner in p.parts))
    return unique[0] if len(unique) == 1 else Formula(formula.kind, parts=unique)


def _leaves(formula: Formula) -> Iterable[Formula]:
    if formula.kind == "leaf":
        yield formula
    for part in formula.parts:
        yield from _leaves(part)


def leaf(*requirements: Requirement) -> Formula:
    return Formula("leaf", requirements)


def absent(formula: Formula) -> Formula:
    """The opposite."""
    if formula.kind == "leaf":
        return replace(formula, negative=not formula.negative)
    return Formula("any" if formula.kind == "all" else "all", parts=tuple(map(absent, formula.parts)))
