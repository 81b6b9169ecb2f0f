"""Assertions on where a result is: the device that they name is the one that the test ran on.

A condition that names one branches on CUDA itself, and stays.
"""

from __future__ import annotations

import ast

from codemods.device_held import is_asserted, is_indexed
from codemods.device_nodes import check_visible, literal_at, made_device, whole
from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked, DeviceValue, Spot
from codemods.edit import SourceFile, Splice
from hwlint.scan.names import dotted


def compare_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``x.device.type == "cuda"``, ``assertEqual(x.device.type, "cuda")`` -> the bare type of the device under test.

    ``self.device_type == "cuda"`` asks the device under test already, and stays.
    """
    node = literal_at(tree, spot)
    check_visible(tree, node, value)
    parent = tree.parent(node)
    if isinstance(parent, ast.Compare) and "self.device_type" in map(dotted, (parent.left, *parent.comparators)):
        return []
    if is_indexed(tree, node) and is_asserted(tree, parent):
        return [whole(file, node, value.type_text)]
    others: list[ast.expr] = []
    if (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in ("assertEqual", "assertNotEqual")
    ):
        if parent.func.attr == "assertEqual" and node in parent.args[:2]:
            others = [a for a in parent.args[:2] if a is not node]
    elif isinstance(parent, ast.Compare) and len(parent.ops) == 1 and isinstance(parent.ops[0], ast.Eq):
        around = tree.parent(parent)
        asserted = isinstance(around, ast.Assert) or (
            isinstance(around, ast.Call) and dotted(around.func).rpartition(".")[2] == "assertTrue"
        )
        if asserted:  # A condition branches on CUDA itself; an assertion says where the result is.
            others = [o for o in (parent.left, parent.comparators[0]) if o is not node]
    if not others or not _is_device_type(others[0]):
        raise Blocked("comparison", f"the device is compared (line {node.lineno})", spot.span)
    return [whole(file, node, value.type_text)]


def _is_device_type(node: ast.expr) -> bool:
    """``x.device.type``."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "type"
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "device"
    )


def index_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``assertEqual(x.device, torch.device("cuda:0"))`` -> ``torch.device(device)``: the first device of its type."""
    node = tree.at(spot.span)
    check_visible(tree, node, value)
    check_asserted(tree, node, spot)
    if not (isinstance(node, ast.Constant) and node.value == spot.old):
        raise Blocked("layout", f"{spot.old!r} is not where it was", spot.span)
    own = value.per_rank or value.is_type
    return [whole(file, node, f'f"{{{value.type_text}}}:0"' if own else value.text)]


def check_asserted(tree: FunctionTree, node: ast.expr, spot: Spot) -> None:
    """Raise Blocked where the device, as it is or in ``torch.device(...)``, is no side of an ``assertEqual``."""
    made = tree.parent(node)
    side: ast.AST | None = made if made_device(made) is node else node
    call = tree.parent(side) if side is not None else None
    if not (isinstance(call, ast.Call) and dotted(call.func) == "self.assertEqual" and side in call.args[:2]):
        raise Blocked("comparison", f"the device is compared (line {node.lineno})", spot.span)


def is_device_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``self.assertTrue(x.is_cuda)`` -> ``self.assertEqual(x.device.type, torch.device(device).type)``.

    An assertion says where the result is; a condition branches on CUDA itself.
    """
    end = (spot.span.end_line, spot.span.end_column)
    ending = (n for nodes in tree.by_span.values() for n in nodes if (n.end_lineno, n.end_col_offset) == end)
    node = next((n for n in ending if isinstance(n, ast.Attribute) and n.attr == spot.old), None)
    if node is None:
        raise Blocked("layout", f"`{spot.old}` is not where it was", spot.span)
    check_visible(tree, node, value)
    start, stop = file.range_of(spot.span)
    around = tree.parent(node)
    if isinstance(around, ast.Assert):
        return [Splice(start, stop, f"device.type == {value.type_text}")]
    if isinstance(around, ast.Call) and around.args[:1] == [node]:
        called = {"self.assertTrue": "assertEqual", "self.assertFalse": "assertNotEqual"}.get(dotted(around.func))
        if called is not None:
            name_end = file.node_range(around.func)[1]
            name_start = name_end - len(dotted(around.func).partition(".")[2])
            return [Splice(name_start, name_end, called), Splice(start, stop, f"device.type, {value.type_text}")]
    raise Blocked("comparison", f"`{spot.old}` is compared", spot.span)
