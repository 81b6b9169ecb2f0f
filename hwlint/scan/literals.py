"""Values of expressions that are literals, directly or through a module constant."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace

from hwlint.scan.facts import Argument, Constant, Literals
from hwlint.scan.names import source_of


class NotLiteral(ValueError):
    """The expression's value cannot be read off the source."""


def literal(node: ast.expr, constants: Mapping[str, Constant] = {}) -> Literals:
    """The value of ``node``; lists and sets come as tuples.

    Raises NotLiteral where it is neither a literal nor a name in ``constants`` whose value is known.
    """
    if isinstance(node, ast.Constant):
        value = node.value
        if value is None or isinstance(value, (str, int, float, bool)):
            return value
        raise NotLiteral
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return tuple(literal(element, constants) for element in node.elts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = literal(node.operand)
        if isinstance(operand, (int, float)):
            return -operand
        raise NotLiteral
    if isinstance(node, ast.Name):
        constant = constants.get(node.id)
        if constant is not None and constant.known:
            return constant.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _literal_call(node.func.id, node.args, constants)
    raise NotLiteral


def _literal_call(function: str, args: list[ast.expr], constants: Mapping[str, Constant]) -> Literals:
    """``tuple([...])``, ``list(...)``, ``range(3)``."""
    values = [literal(argument, constants) for argument in args]
    if function in ("tuple", "list", "set", "frozenset") and len(values) == 1 and isinstance(values[0], tuple):
        return values[0]
    if function == "range" and values and all(type(v) is int for v in values) and len(values) <= 3:
        try:
            numbers = range(*values)  # type: ignore[arg-type]
        except ValueError:
            raise NotLiteral from None
        if len(numbers) <= 1000:
            return tuple(numbers)
    raise NotLiteral


def read_arguments(call: ast.Call, constants: Mapping[str, Constant]) -> tuple[Argument, ...]:
    """The arguments of a call in order, positional ones first as Python wants them."""
    found = []
    for node in call.args:
        starred = isinstance(node, ast.Starred)
        found.append(
            _argument("*" if starred else "", node.value if isinstance(node, ast.Starred) else node, constants)
        )
    for keyword in call.keywords:
        found.append(_argument(keyword.arg or "**", keyword.value, constants))
    return tuple(found)


def _argument(name: str, node: ast.expr, constants: Mapping[str, Constant]) -> Argument:
    try:
        value = literal(node, constants)
    except NotLiteral:
        return Argument(name, None, known=False, text=source_of(node), literal=False)
    return Argument(name, value, known=name not in ("*", "**"), text=source_of(node), literal=_in_place(node))


def flat_arguments(arguments: Iterable[Argument]) -> tuple[Argument, ...]:
    """Lists of device types as one list each: ``("cpu", GPU_TYPE)`` holds all that ``GPU_TYPE`` may be."""
    return tuple(replace(a, value=_flat(a.value)) if isinstance(a.value, tuple) else a for a in arguments)


def _flat(values: tuple[Literals, ...]) -> tuple[Literals, ...]:
    found: list[Literals] = []
    for value in values:
        found.extend(_flat(value) if isinstance(value, tuple) else (value,))
    return tuple(found)


def _in_place(node: ast.expr) -> bool:
    """A plain literal here, as upstream's linter reads one: a string, ``None``, or a list or tuple."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(isinstance(element, ast.Constant) for element in node.elts)
    return isinstance(node, ast.Constant)
