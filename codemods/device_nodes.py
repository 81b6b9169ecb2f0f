"""What stands at a spot: found, held against the facts, and fit to be replaced; Blocked where it is not."""

from __future__ import annotations

import ast

from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked, DeviceValue, Spot
from codemods.edit import BLANK, FunctionNode, SourceFile, Splice
from hwlint.catalog.claims import gate_claim
from hwlint.scan.names import dotted


def whole(file: SourceFile, node: ast.expr, text: str) -> Splice:
    """``text`` in place of ``node``; no comment may stand in it."""
    start, end = file.node_range(node)
    no_comment(file, start, end)
    return Splice(start, end, text)


def no_comment(file: SourceFile, start: int, end: int) -> None:
    """Raise Blocked where a comment would go with the text between the offsets."""
    old = file.text[start:end]
    if "\n" in old and "#" in old:
        raise Blocked("layout", f"a comment stands inside an expression that goes (line {file.line_of(start)})")


def check_visible(tree: FunctionTree, node: ast.AST, value: DeviceValue) -> None:
    """Raise Blocked where the name that ``value`` starts with, or ``torch``, means something else at ``node``."""
    head = value.text.partition(".")[0]
    if any(up is tree.node.args for up in tree.ancestors(node)):
        raise Blocked("unknown-caller", f"a default value names a device (line {tree.node.lineno})")
    if tree.is_shadowed(head, node):
        raise Blocked("name-taken", f"`{head}` means something else in a nested scope")
    if value.needs_torch and tree.hides_module("torch", node):
        raise Blocked("name-taken", "`torch` means something else in the function")
    for scope in tree.scopes_between(node):
        if isinstance(scope, ast.ClassDef) and value.text.startswith(("self.", "cls.")):
            raise Blocked("name-taken", "a nested class has a `self` of its own")


def literal_at(tree: FunctionTree, spot: Spot) -> ast.expr:
    """The string, or the constant, that the spot is about. Raises Blocked where something else stands there."""
    node = tree.at(spot.span)
    if spot.note == "constant":
        if dotted(node) != spot.old and dotted(node).rpartition(".")[2] != spot.old:
            raise Blocked("layout", f"`{spot.old}` is not where it was", spot.span)
    elif not (isinstance(node, ast.Constant) and node.value == spot.old):
        raise Blocked("layout", f"{spot.old!r} is not where it was", spot.span)
    return node


def check_index(index: ast.expr) -> None:
    """Raise Blocked for the index of a second device."""
    if isinstance(index, ast.Constant) and index.value not in (0, None):
        raise Blocked("device-count", f"a further device is named (line {index.lineno})")


def conditional(tree: FunctionTree, node: ast.expr) -> ast.IfExp | None:
    """The ``"cuda" if torch.cuda.is_available() else "cpu"`` that ``node`` is the first part of, or stands in the
    first part of, where ``torch.device(...)`` is around both.
    """
    parent = tree.parent(node)
    made = made_device(parent)
    first, around = (node, parent) if made is None else (parent, tree.parent(parent) if parent is not None else None)
    if not isinstance(around, ast.IfExp) or around.body is not first or made not in (None, node):
        return None
    other = around.orelse if made is None else made_device(around.orelse)
    if not (isinstance(other, ast.Constant) and other.value == "cpu"):
        return None
    test = around.test
    name = dotted(test.func) if isinstance(test, ast.Call) and not test.args else dotted(test)
    return around if name in ("torch.cuda.is_available", "TEST_CUDA", "torch.accelerator.is_available") else None


def made_device(node: ast.AST | None) -> ast.expr | None:
    """The only argument of ``torch.device(...)``."""
    if isinstance(node, ast.Call) and dotted(node.func) == "torch.device" and len(node.args) == 1:
        return None if node.keywords else node.args[0]
    return None


def check_not_optional(tree: FunctionTree, node: ast.expr, direct: bool = True) -> None:
    """Raise Blocked where the node stands in a choice that hangs on a vendor's device; ``direct``: or is one branch."""
    child: ast.AST = node
    for up in tree.ancestors(node):
        if isinstance(up, ast.stmt):
            return
        choice = isinstance(up, ast.IfExp) and child is not up.test
        if choice or isinstance(up, ast.BoolOp):
            text = ast.unparse(up.test if isinstance(up, ast.IfExp) else up)
            if direct or choice and gate_claim().search(text):
                raise Blocked("compound-gate", f"the device is chosen by a condition (line {node.lineno})")
        direct = direct and isinstance(up, ast.Call) and dotted(up.func) == "torch.device"
        child = up


def statement_out(file: SourceFile, function: FunctionNode | ast.ClassDef, node: ast.stmt) -> Splice:
    """The lines of ``node``, which has them for itself, and a blank line below them at the head of the body."""
    first, last = node.lineno, node.end_lineno or node.lineno
    start, end = file.node_range(node)
    rest = file.text[end : file.line_end(last)].strip(BLANK)
    if node not in function.body or len(function.body) == 1:
        raise Blocked("layout", f"the statement on line {first} cannot go from where it stands")
    if not file.starts_line(start) or rest or "#" in file.text[start:end]:
        raise Blocked("layout", f"the statement on line {first} shares its lines with something that stays")
    following = last + 1
    if node is function.body[0] and file.is_blank(following):
        following += 1
    return Splice(file.line_start(first), file.line_start(following), "")


def is_rank(node: ast.expr) -> bool:
    """``rank``, ``self.rank``, ``dist.get_rank()``, ``self.rank % 2``."""
    inner = node.left if isinstance(node, ast.BinOp) else node
    if isinstance(inner, ast.Call):
        return dotted(inner.func).rpartition(".")[2] == "get_rank" and not inner.args and not inner.keywords
    return "rank" in dotted(inner).rpartition(".")[2].lower()
