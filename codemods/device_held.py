"""A device that a test makes with an index, and holds against where its results are.

``expected = torch.device("cuda", torch.cuda.current_device())``: with the type of the device under test in place of the
literal it is the same device on CUDA, and the one that the assertion means on any other. What branches on it, or looks
at its text, is something else.
"""

from __future__ import annotations

import ast

from codemods.device_nodes import check_index
from codemods.device_tree import FunctionTree
from hwlint.scan.names import dotted


def is_indexed(tree: FunctionTree, node: ast.expr) -> bool:
    """Whether it is the type in ``torch.device(type, index)``. Raises Blocked for the index of a second device."""
    call = tree.parent(node)
    if not isinstance(call, ast.Call) or dotted(call.func) != "torch.device" or call.args[:1] != [node]:
        return False
    index = call.args[1] if len(call.args) == 2 else next((k.value for k in call.keywords if k.arg == "index"), None)
    if index is None or len(call.args) + len(call.keywords) != 2:
        return False
    check_index(index)
    return True


def is_asserted(tree: FunctionTree, made: ast.AST | None) -> bool:
    """Whether the device that ``made`` gives, maybe by a local name, is asserted to be that of something, or placed
    on, and nothing else.
    """
    if made is None or _is_side(tree, made):
        return made is not None
    assigned = tree.parent(made)
    if not isinstance(assigned, ast.Assign) or assigned.value is not made or len(assigned.targets) != 1:
        return False
    target = assigned.targets[0]
    if not isinstance(target, ast.Name) or tree.parent(assigned) is not tree.node:
        return False
    named = [n for n in ast.walk(tree.node) if isinstance(n, ast.Name) and n.id == target.id]
    stored = [n for n in named if not isinstance(n.ctx, ast.Load)]
    if stored != [target] or any(tree.is_shadowed(target.id, n) for n in named):
        return False
    return all(_is_side(tree, n) or _is_told(tree, n) or _is_placed(tree, n) for n in named if n is not target)


def _is_side(tree: FunctionTree, node: ast.AST) -> bool:
    """``self.assertEqual(x.device, node)``, ``assert x.device == node``."""
    around = tree.parent(node)
    if isinstance(around, ast.Call) and dotted(around.func) == "self.assertEqual" and node in around.args[:2]:
        return any(_is_device(a) for a in around.args[:2] if a is not node)
    if isinstance(around, ast.Compare) and len(around.ops) == 1 and isinstance(around.ops[0], ast.Eq):
        asserted = tree.parent(around)
        sides = (around.left, around.comparators[0])
        is_test = isinstance(asserted, ast.Assert) and asserted.test is around
        return is_test and any(_is_device(side) for side in sides if side is not node)
    return False


def _is_device(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "device" and dotted(node) != "self.device"


def _is_told(tree: FunctionTree, node: ast.AST) -> bool:
    """Whether it is part of the message of an assertion."""
    child = node
    for up in tree.ancestors(node):
        if isinstance(up, ast.Assert):
            return up.msg is child
        if isinstance(up, ast.stmt):
            return False
        child = up
    return False


def _is_placed(tree: FunctionTree, node: ast.AST) -> bool:
    """``device=node``, ``x.to(node)``."""
    around = tree.parent(node)
    if isinstance(around, ast.keyword):
        return around.arg == "device"
    moved = isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute) and around.func.attr == "to"
    return moved and isinstance(around, ast.Call) and around.args[:1] == [node]
