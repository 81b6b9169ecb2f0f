"""What has to hold of the functions of a class together.

Helpers are only called where the device is known; set-up code works on the CPU, too; a test without a gate cannot have
run there.
"""

from __future__ import annotations

import ast
import re
import unittest
from collections.abc import Iterable, Mapping, Sequence

from codemods.device_defaults import NAME, is_given
from codemods.device_helpers import check_uses
from codemods.device_spots import TAKES_TYPE
from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked, FunctionEdit, Spot
from codemods.edit import FunctionNode, SourceFile, statements
from hwlint.scan.device_mixed import FACTORIES
from hwlint.scan.names import dotted

PLACES = frozenset("to set_default_device load as_tensor tensor".split())
"""Callees beside factories that need the device they are given."""


def check_callers(
    file: SourceFile, helpers: Iterable[int], edits: Sequence[FunctionEdit], together: Sequence[FunctionEdit]
) -> None:
    """Raise Blocked where a helper that gets a parameter is used in a way, or a place, that passes it none.

    ``edits`` are those of one class, ``together`` those of all classes of the module that change with it: they share
    what does not belong to any of them.
    """
    own_bodies = [(file.function_at(edit.line), set(edit.pass_to)) for edit in edits]
    all_bodies = [(file.function_at(edit.line), set(edit.pass_to)) for edit in together]
    called = {edit.line: edit.called for edit in edits}
    for line in helpers:
        if called.get(line):
            _check_same(line, edits, together)
            takers = {edit.line for edit in together if edit.called == called[line]}
            check_uses(file, called[line], takers, together)
            continue
        node = file.function_at(line)
        owner = _owner(file, node)
        around: ast.AST = file.tree if owner is None else owner
        if owner is None:
            _check_same(line, edits, together)
        bodies = all_bodies if owner is None else own_bodies
        if owner is not None and hasattr(unittest.TestCase, node.name):
            raise Blocked("unknown-caller", f"`{node.name}` is a method that unittest knows")
        for use in ast.walk(around):
            if isinstance(use, ast.Constant) and use.value == node.name:
                raise Blocked("unknown-caller", f"`{node.name}` is named in a string on line {use.lineno}")
            is_name = isinstance(use, ast.Name) and owner is None and use.id == node.name
            is_member = isinstance(use, ast.Attribute) and owner is not None and use.attr == node.name
            if not (is_name or is_member) or not isinstance(use, (ast.Name, ast.Attribute)):
                continue
            if not any(dotted(use) in passed and _holds_line(body, use.lineno) for body, passed in bodies):
                raise Blocked("unknown-caller", f"`{node.name}` is used on line {use.lineno}")


def _check_same(line: int, edits: Sequence[FunctionEdit], together: Sequence[FunctionEdit]) -> None:
    """Raise Blocked where two classes would do different things to the helper that they share."""
    done = {(edit.value, edit.parameter, edit.spots) for edit in (*edits, *together) if edit.line == line}
    if len(done) > 1:
        raise Blocked("shared-helper", f"two classes would change the helper on line {line} in different ways")


def _holds_line(node: FunctionNode, line: int) -> bool:
    return node.body[0].lineno <= line <= (node.end_lineno or node.lineno)


def _owner(file: SourceFile, node: FunctionNode) -> ast.ClassDef | None:
    for statement in statements(file.tree.body):
        if isinstance(statement, ast.ClassDef) and any(inner is node for inner in statements(statement.body)):
            return statement
    return None


def check_reached(
    file: SourceFile, edits: Sequence[FunctionEdit], ungated: Iterable[int], fixtures: Iterable[int]
) -> None:
    """Raise Blocked where a test that has no gate may get by without its device: then it ran on the CPU as well."""
    by_name: dict[str, FunctionEdit] = {}
    trees = {edit.line: FunctionTree(file, file.function_at(edit.line)) for edit in edits}
    for edit in edits:
        by_name.setdefault(trees[edit.line].node.name, edit)
    in_fixture = any(_surely_reaches(trees, e, by_name, set()) for e in edits if e.line in fixtures)
    for edit in edits:
        if edit.line in ungated and not in_fixture and not _surely_reaches(trees, edit, by_name, set()):
            raise Blocked("uncertain", f"whether `{trees[edit.line].node.name}` ran on the CPU as well cannot be told")


def _surely_reaches(
    trees: Mapping[int, FunctionTree], edit: FunctionEdit, by_name: Mapping[str, FunctionEdit], seen: set[int]
) -> bool:
    """Whether the function gets to a place that needs the device, or to a helper that does, under no condition."""
    tree = trees[edit.line]
    seen.add(edit.line)
    if any(_needs_device(tree, spot) for spot in edit.spots) or edit.required and _places_parameter(tree):
        return True
    for node in (n for statement in tree.node.body for n in ast.walk(statement)):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            name = node.id if isinstance(node, ast.Name) else node.attr if dotted(node.value) in ("self", "cls") else ""
            other = by_name.get(name)
            if other is not None and other.line not in seen and not _is_conditional(tree, node):
                if other.required and _is_told(tree, node, edit):
                    continue
                if _surely_reaches(trees, other, by_name, seen):
                    return True
    return False


def _is_told(tree: FunctionTree, node: ast.expr, edit: FunctionEdit) -> bool:
    """Whether what stands at ``node``, and has a device to fall back on, is called with another."""
    call = tree.parent(node)
    passed = next((one for one in edit.passed if one.callee == dotted(node)), None)
    return passed is None or not isinstance(call, ast.Call) or is_given(call, passed)


def _places_parameter(tree: FunctionTree) -> bool:
    """Whether the function puts something on the ``device`` that it takes, under no condition."""
    loads = (n for s in tree.node.body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == NAME)
    return any(isinstance(n.ctx, ast.Load) and not _is_conditional(tree, n) and _is_placed(tree, n) for n in loads)


def _needs_device(tree: FunctionTree, spot: Spot) -> bool:
    """Whether the spot is executed under no condition, and fails where the device is not there."""
    if spot.action == "move":
        return not _is_conditional(tree, tree.calls_at(spot.span, spot.old))
    if spot.action not in ("api", "tensor_type", "value", "prefix"):
        return False  # A bare type configures, a question is answered, an activity that is not there is left out.
    node = tree.at(spot.span)
    if _is_conditional(tree, node):
        return False
    return spot.action in ("api", "tensor_type") or _is_placed(tree, node)


def _is_placed(tree: FunctionTree, node: ast.expr) -> bool:
    """Whether a value puts something on the device: as an argument of a call that does, maybe through a local name."""
    parent = tree.parent(node)
    if isinstance(parent, ast.keyword):
        call = tree.parent(parent)
        if not isinstance(call, ast.Call) or parent.arg not in ("device", "map_location"):
            return False
        return _is_factory(call)
    if isinstance(parent, ast.Call) and node in parent.args:
        if dotted(parent.func) == "torch.device":
            return _is_placed(tree, parent)
        callee = parent.func.attr if isinstance(parent.func, ast.Attribute) else dotted(parent.func)
        return callee in PLACES
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        loads = (n for s in tree.node.body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name)
        return any(isinstance(n.ctx, ast.Load) and not _is_conditional(tree, n) and _is_placed(tree, n) for n in loads)
    if isinstance(parent, ast.withitem):
        return True  # with torch.device("cuda"):
    return False


def _is_factory(call: ast.Call) -> bool:
    """Whether the call is known to make or move a tensor or module: one of torch's own, or a method of a tensor.

    What else takes a device may only note it (layouts of a compiler, fake tensors).
    """
    written = dotted(call.func)
    last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if last in ("to", "to_empty") or last.startswith("new_"):
        return True
    public = written.startswith(("torch.", "nn.", "F.")) and not written.startswith("torch._")
    return public and last not in TAKES_TYPE and last != "device" and "fake" not in last.lower()


def _is_conditional(tree: FunctionTree, node: ast.AST) -> bool:
    """Whether the test may get by without ``node``, or expects it to fail."""
    child = node
    for up in tree.ancestors(node):
        if isinstance(up, (ast.If, ast.IfExp, ast.While)) and child is not up.test:
            return True
        if isinstance(up, (ast.ExceptHandler, ast.match_case, ast.Try)):
            return True
        if isinstance(up, ast.BoolOp) and up.values[0] is not child:
            return True
        if isinstance(up, (ast.With, ast.AsyncWith)) and any(_expects_failure(i.context_expr) for i in up.items):
            return True
        if isinstance(up, ast.Call) and _expects_failure(up):
            return True
        child = up
    return False


def _expects_failure(node: ast.expr) -> bool:
    name = dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return name.startswith("assertRaises") or name in ("raises", "suppress")


FRAGILE = re.compile(r"(?i)half|bfloat16|float16|float8|fp8|sparse|compile|triton|quant|cudnn|complex")


CONVERSIONS = ("half", "bfloat16")
"""Methods that give a tensor another dtype on every device; what is computed of it may be missing on the CPU."""
MAKES = frozenset("to cuda cpu float double setUp setUpClass super functools.partial".split()).union(CONVERSIONS)


def check_fixture(file: SourceFile, edit: FunctionEdit) -> None:
    """Raise Blocked where set-up code may not work on the CPU: it runs before the CPU variant is skipped."""
    node = file.function_at(edit.line)
    inner = [child for statement in node.body for child in ast.walk(statement)]
    converts = _conversions(inner) if all(_makes(child) for child in inner) else set()
    for child in inner:
        word = child.attr if isinstance(child, ast.Attribute) else child.id if isinstance(child, ast.Name) else ""
        if FRAGILE.search(word) and id(child) not in converts:
            text = f"`{word}` in {node.name}, which runs before the CPU variant is skipped, may not work there"
            raise Blocked("raises-without-accelerator", text)


def _conversions(nodes: Iterable[ast.AST]) -> set[int]:
    """The ``x.half`` of calls ``x.half()``."""
    calls = (n.func for n in nodes if isinstance(n, ast.Call) and not n.args and not n.keywords)
    return {id(func) for func in calls if isinstance(func, ast.Attribute) and func.attr in CONVERSIONS}


def _makes(node: ast.AST) -> bool:
    """Whether the node computes nothing: no operator, and no call but of what makes, moves or converts a tensor."""
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign)):
        return False
    if not isinstance(node, ast.Call):
        return True
    written = dotted(node.func)
    last = node.func.attr if isinstance(node.func, ast.Attribute) else written
    return written in FACTORIES or written in MAKES or last in MAKES and written != last
