"""Half-converted tests: one expression that combines a tensor placed on ``device`` with one placed elsewhere."""

from __future__ import annotations

import ast
from typing import Any

from hwlint.scan.context import ScanContext
from hwlint.scan.facts import Span
from hwlint.scan.names import span_of

FACTORIES = frozenset(
    """torch.rand torch.randn torch.randint torch.zeros torch.ones torch.empty torch.full torch.arange torch.linspace
    torch.eye torch.logspace torch.randperm""".split()
)
"""Factories that place on the default device, the CPU, without ``device=``."""

ELEMENTWISE = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow)


def mixed_expressions(
    node: ast.FunctionDef | ast.AsyncFunctionDef, operations: list[ast.BinOp], context: ScanContext
) -> tuple[Span, ...]:
    """Binary operations one side of which is on ``device`` and the other on the CPU or on a literal device.

    Sides are calls of torch's factories, or local names that are bound once, to such a call. A tensor of no dimension
    mixes with any device, so factories without a size do not count.
    """
    operations = [o for o in operations if _may_mix(o)]
    if not operations or not _has_candidates(node, operations, context):
        return ()
    bound: dict[str, ast.expr | None] = {}
    for child in ast.walk(node):
        if isinstance(child, ast.Assign):
            for target in child.targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        single = isinstance(target, ast.Name) and len(child.targets) == 1 and name.id not in bound
                        bound[name.id] = child.value if single else None
        elif isinstance(child, ast.arg):
            bound[child.arg] = None  # of a function inside: another variable of the same name
        elif isinstance(child, (ast.AugAssign, ast.For, ast.NamedExpr)):
            for name in ast.walk(child.target):
                if isinstance(name, ast.Name):
                    bound[name.id] = None
    found = []
    for operation in operations:
        sides = {_placed(operation.left, bound, context), _placed(operation.right, bound, context)}
        if sides == {"device", "elsewhere"}:
            found.append(span_of(operation))
    return tuple(sorted(found)) if found and not _changes_default(node, context) else ()


def _may_mix(operation: ast.BinOp) -> bool:
    """Whether both sides are calls or names."""
    sides = (operation.left, operation.right)
    return isinstance(operation.op, ELEMENTWISE) and all(isinstance(side, (ast.Name, ast.Call)) for side in sides)


def _has_candidates(
    node: ast.FunctionDef | ast.AsyncFunctionDef, operations: list[ast.BinOp], context: ScanContext
) -> bool:
    """Whether both sides of an operation can be tensors placed unlike, whatever else is done with their names.

    A quick look at the statements, since the exact one is at every node and hardly ever needed.
    """
    values: dict[str, list[ast.expr]] = {}
    blocks: list[list[Any]] = [node.body]
    while blocks:
        for statement in blocks.pop():
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        values.setdefault(target.id, []).append(statement.value)
            else:
                blocks += [getattr(statement, name) for name in _BLOCKS if hasattr(statement, name)]

    def places(side: ast.expr) -> set[str]:
        named = values.get(side.id, []) if isinstance(side, ast.Name) else [side]
        return {_placed(value, {}, context) for value in named}

    return any(
        ("device" in left and "elsewhere" in right) or ("elsewhere" in left and "device" in right)
        for left, right in ((places(o.left), places(o.right)) for o in operations)
    )


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def _changes_default(node: ast.AST, context: ScanContext) -> bool:
    """Whether the default device, or what a factory makes, may be something else here."""
    for child in ast.walk(node):
        if isinstance(child, ast.Call) and isinstance(child.func, (ast.Name, ast.Attribute)):
            last = context.names.qualify(child.func).rpartition(".")[2]
            if last in (
                "set_default_device",
                "set_default_tensor_type",
                "assertRaises",
                "assertRaisesRegex",
                "FakeTensorMode",
            ):
                return True
        if isinstance(child, (ast.With, ast.AsyncWith)):
            if any(
                isinstance(i.context_expr, (ast.Name, ast.Call)) and _may_place(i.context_expr) for i in child.items
            ):
                return True
    return False


def _may_place(node: ast.expr) -> bool:
    call = node.func if isinstance(node, ast.Call) else node
    name = call.attr if isinstance(call, ast.Attribute) else call.id if isinstance(call, ast.Name) else "device"
    return "device" in name or "mode" in name.lower()


def _placed(node: ast.expr, bound: dict[str, ast.expr | None], context: ScanContext) -> str:
    """'device', 'elsewhere' or '' for not known."""
    if isinstance(node, ast.Name):
        value = bound.get(node.id)
        return _placed(value, {}, context) if isinstance(value, ast.Call) else ""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda", "cpu", "xpu"):
        return _moved(node)
    if context.names.qualify(node.func) not in FACTORIES or not node.args or any(k.arg is None for k in node.keywords):
        return ""
    if isinstance(node.args[0], (ast.Tuple, ast.List)) and not node.args[0].elts:
        return ""
    given = next((k.value for k in node.keywords if k.arg == "device"), None)
    return "elsewhere" if given is None else _side(given)


def _moved(node: ast.Call) -> str:
    assert isinstance(node.func, ast.Attribute)
    if node.func.attr != "to":
        return "elsewhere"
    given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "device"), None)
    return "" if given is None else _side(given)


def _side(given: ast.expr) -> str:
    if isinstance(given, ast.Name):
        return "device" if given.id == "device" else ""
    return "elsewhere" if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""
