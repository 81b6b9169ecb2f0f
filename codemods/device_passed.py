"""Whether a name that held a bare device type is used as a device only.

The loader passes 'cuda:0' where a loop or a list of parameters had 'cuda': a tensor is placed the same, but
``assertEqual(x.device.type, device)`` and what looks the type up are not what they were (pytorch/pytorch#190525).
"""

from __future__ import annotations

import ast

from codemods.device_spots import TAKES_TYPE
from codemods.device_tree import FunctionTree
from codemods.plan import Context
from hwlint.scan.facts import Function
from hwlint.scan.names import dotted


def other_use(context: Context, tree: FunctionTree, name: str, seen: frozenset[str] = frozenset()) -> int:
    """The line on which ``name`` is used as anything but a device, in the function or a helper that it is passed to; 0
    for none.
    """
    for node in (n for statement in tree.node.body for n in ast.walk(statement)):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            if not tree.is_shadowed(name, node) and not _is_device(context, tree, node, seen):
                return node.lineno
    return 0


def _is_device(context: Context, tree: FunctionTree, node: ast.Name, seen: frozenset[str]) -> bool:
    parent = tree.parent(node)
    keyword = parent.arg or "**" if isinstance(parent, ast.keyword) else ""
    call = tree.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or call.func is node:
        return False
    written = dotted(call.func)
    last = call.func.attr if isinstance(call.func, ast.Attribute) else written
    if last in TAKES_TYPE:
        return False
    head, _, rest = written.partition(".")
    if written == last or head == "self" and rest == last:
        helper = _helper(context, last)
        if helper is not None:
            return last in seen or _takes_device(context, helper, call, node, keyword, seen | {last})
    if keyword:
        return keyword in ("device", "map_location")
    head = dict(context.module.imports).get(head, head)
    return last == "to" or head == "torch" or head.startswith("torch.")


def _helper(context: Context, name: str) -> Function | None:
    """The one function or method of that name in the module."""
    module = context.module
    found = [f for f in (*module.functions, *(m for c in module.classes for m in c.methods)) if f.name == name]
    return found[0] if len(found) == 1 else None


def _takes_device(
    context: Context, helper: Function, call: ast.Call, node: ast.Name, keyword: str, seen: frozenset[str]
) -> bool:
    """Whether the helper takes the name as a parameter that it uses as a device."""
    parameters = helper.parameters[1:] if helper.parameters[:1] == ("self",) else helper.parameters
    at = call.args.index(node) if node in call.args else -1
    name = keyword or (parameters[at] if 0 <= at < len(parameters) else "")
    if name not in parameters:
        return False
    file = context.source()
    return not other_use(context, FunctionTree(file, file.function_at(helper.line)), name, seen)
