"""How the names of a module are bound: which ones a single assignment tells, and what the others hold where.

A list of devices that is put together (``devices.append("xpu")``, ``devices += [...]``) is not what its first line
says, and neither is a name that a loop, a ``with`` or a function binds as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hwlint.scan.facts import Constant
from hwlint.scan.literals import NotLiteral, literal
from hwlint.scan.names import dotted, span_of

MUTATORS = "append extend insert remove pop clear sort reverse update add discard setdefault"
"""Methods by which a list or a set is changed."""
_GLOBAL = re.compile(r"^[ \t]*global[ \t]+([\w, \t]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Binding:
    """One place where a name of the module is bound. ``value`` is that of a plain assignment, None for any other."""

    name: str
    statement: ast.stmt
    value: ast.expr | None = None


def bindings_of(statement: ast.stmt) -> Iterator[Binding]:
    """The names that one statement of a module binds or changes, those in its blocks left out."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from _assigned(target, statement.value, statement)
    elif isinstance(statement, ast.AnnAssign):
        if statement.value is not None:
            yield from _assigned(statement.target, statement.value, statement)
    elif isinstance(statement, (ast.AugAssign, ast.For, ast.AsyncFor)):
        yield from _changed(statement.target, statement)
    elif isinstance(statement, ast.Delete):
        for target in statement.targets:
            yield from _changed(target, statement)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            if item.optional_vars is not None:
                yield from _changed(item.optional_vars, statement)


def _assigned(target: ast.expr, value: ast.expr, statement: ast.stmt) -> Iterator[Binding]:
    if isinstance(target, ast.Name):
        yield Binding(target.id, statement, value)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, part in zip(target.elts, value.elts):
            yield from _assigned(one, part, statement)
    else:
        yield from _changed(target, statement)


def _changed(target: ast.expr, statement: ast.stmt) -> Iterator[Binding]:
    """Of ``a, b[0] = ...``: a and b."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from _changed(one, statement)
    elif isinstance(target, (ast.Starred, ast.Subscript)):
        yield from _changed(target.value, statement)
    elif isinstance(target, ast.Name):
        yield Binding(target.id, statement)


def changes_in(text: str, names: Collection[str]) -> list[str]:
    """The name of each place where the text changes one of ``names``, which hold lists, in place: read off the words,
    so that a local variable of the same name counts as well.
    """
    if not names:
        return []
    written = "|".join(re.escape(name) for name in sorted(names))
    methods = MUTATORS.replace(" ", "|")
    item = r"\[[^\[\]\n]*\][ \t]*"
    return re.findall(rf"\b({written})[ \t]*(?:\.[ \t]*(?:{methods})\b|(?:{item})?[-+|&^]=|{item}=(?!=))", text)


def rebound_in_functions(text: str) -> frozenset[str]:
    """The names that some function declares ``global``."""
    if "global" not in text:
        return frozenset()
    return frozenset(name for listed in _GLOBAL.findall(text) for name in re.findall(r"\w+", listed))


@dataclass(frozen=True, slots=True)
class Addition:
    """``devices.append("hpu")`` among the statements of a module, or in an ``if`` of its own there (``test``)."""

    statement: ast.stmt
    """It, or the ``if`` around it."""
    line: int
    value: ast.expr
    """A list of what is added, or the one thing."""
    test: ast.expr | None = None


def additions_to(name: str, body: Sequence[ast.stmt]) -> tuple[Addition, ...]:
    """What the statements of a module add to a list, at their own level and in their plain ``if``s."""
    found = []
    for statement in body:
        inner = statement.body if isinstance(statement, ast.If) and not statement.orelse else [statement]
        for one in inner:
            value = _added(name, one)
            if value is not None:
                test = statement.test if isinstance(statement, ast.If) else None
                found.append(Addition(statement if len(inner) == 1 else one, one.lineno, value, test))
    return tuple(found)


def _added(name: str, statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return statement.value if dotted(statement.target) == name else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
        if dotted(call.func) in (f"{name}.append", f"{name}.extend"):
            return call.args[0]
    return None


def value_at(
    line: int, places: Sequence[Binding], top: Collection[int], constants: Mapping[str, Constant]
) -> Constant | None:
    """What a name holds for the module's own statement on ``line``: where it is assigned again further down, the value
    before. None where that cannot be told. ``top`` are the lines of the statements that stand in no block.
    """
    above = [place for place in places if place.statement.lineno < line]
    if not above or any(place.value is None or place.statement.lineno not in top for place in places):
        return None
    value = above[-1].value
    assert value is not None
    try:
        return Constant(above[-1].name, span_of(above[-1].statement), literal(value, constants), known=True)
    except NotLiteral:
        return None
