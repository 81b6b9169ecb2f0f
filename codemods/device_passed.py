"""Whether a name that held a bare device type is used as a device only.

The loader passes 'cuda:0' where a loop or a list of parameters had 'cuda': a tensor is placed the same, but
``assertEqual(x.device.type, device)`` and what looks the type up are not what they were (pytorch/pytorch#190525).
"""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import replace

from codemods.device_spots import TAKES_TYPE
from codemods.device_tree import FunctionTree
from codemods.device_values import Spot
from codemods.plan import Context
from hwlint.scan.facts import Function
from hwlint.scan.names import dotted


def other_use(context: Context, tree: FunctionTree, name: str, seen: Set[str] = frozenset()) -> int:
    """The line on which ``name`` is used as anything but a device, in the function or a helper that it is passed to; 0
    for none.
    """
    for node in (n for statement in tree.node.body for n in ast.walk(statement)):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            if not tree.is_shadowed(name, node) and not _is_device(context, tree, node, seen):
                return node.lineno
    return 0


def with_types(context: Context, function: Function, spots: tuple[Spot, ...]) -> tuple[Spot, ...]:
    """The spots of a function of the module, those of bare types that a helper has to get as such marked so."""
    bare = [spot for spot in spots if spot.action == "value" and ":" not in spot.old]
    if not bare:
        return spots
    tree = FunctionTree(context.source(), context.source().function_at(function.line))
    typed = {spot for spot in bare if any(_asks_for_type(context, tree, node) for node in tree.nodes_at(spot.span))}
    return tuple(replace(spot, action="type") if spot in typed else spot for spot in spots)


def _asks_for_type(context: Context, tree: FunctionTree, node: ast.expr) -> bool:
    """Whether a helper of the module, as whose argument ``node`` stands, uses it as anything but a device: what was a
    bare type has to be one.
    """
    keyword, call = _call_of(tree, node)
    if not isinstance(call, ast.Call) or call.func is node:
        return False
    written = dotted(call.func)
    owner, _, last = written.rpartition(".")
    if owner not in ("", "self", "cls"):
        return False
    return any(
        _parameter_for(helper, call, node, keyword) and not _takes_device(context, helper, call, node, keyword, {last})
        for helper in _helpers(context, last)
    )


def _call_of(tree: FunctionTree, node: ast.expr) -> tuple[str, ast.AST | None]:
    """The keyword as which ``node`` is passed, '' for none and '**' where it is unpacked; and what is around that."""
    parent = tree.parent(node)
    if isinstance(parent, ast.FormattedValue):
        parent = tree.parent(parent)
    return (parent.arg or "**", tree.parent(parent)) if isinstance(parent, ast.keyword) else ("", parent)


def _is_device(context: Context, tree: FunctionTree, node: ast.Name, seen: Set[str]) -> bool:
    keyword, call = _call_of(tree, node)
    if isinstance(call, ast.JoinedStr):
        return _is_message(tree, call)
    if not isinstance(call, ast.Call) or call.func is node:
        return False
    written = dotted(call.func)
    last = call.func.attr if isinstance(call.func, ast.Attribute) else written
    if last in TAKES_TYPE:
        return False
    head, _, rest = written.partition(".")
    if written == last or head == "self" and rest == last:
        helpers = _helpers(context, last)
        if len(helpers) == 1:
            return last in seen or _takes_device(context, helpers[0], call, node, keyword, seen | {last})
    if keyword:
        return keyword in ("device", "map_location")
    head = dict(context.module.imports).get(head, head)
    return last == "to" or head == "torch" or head.startswith("torch.")


def _is_message(tree: FunctionTree, text: ast.JoinedStr) -> bool:
    """Whether an f-string is what an assertion says where it fails: the name of a device does no harm there."""
    keyword, call = _call_of(tree, text)
    return keyword == "msg" and isinstance(call, ast.Call) and dotted(call.func).startswith("self.assert")


def _helpers(context: Context, name: str) -> list[Function]:
    """The functions and methods of that name in the module."""
    module = context.module
    return [f for f in (*module.functions, *(m for c in module.classes for m in c.methods)) if f.name == name]


def _takes_device(
    context: Context, helper: Function, call: ast.Call, node: ast.expr, keyword: str, seen: Set[str]
) -> bool:
    """Whether the helper takes the name as a parameter that it uses as a device."""
    name = _parameter_for(helper, call, node, keyword)
    file = context.source()
    return bool(name) and not other_use(context, FunctionTree(file, file.function_at(helper.line)), name, seen)


def _parameter_for(helper: Function, call: ast.Call, node: ast.expr, keyword: str) -> str:
    """The parameter of the helper that ``node`` is passed as; '' where that cannot be told."""
    parameters = helper.parameters[1:] if helper.parameters[:1] == ("self",) else helper.parameters
    at = call.args.index(node) if node in call.args else -1
    name = keyword or (parameters[at] if 0 <= at < len(parameters) else "")
    return name if name in parameters else ""
