"""Statements that choose the device of a test by what the host has, which the device under test takes the place of.

``if TEST_CUDA: device = "cuda"`` with ``elif TEST_PRIVATEUSE1: device = torch._C._get_privateuse1_backend_name()`` or
``else: device = "cpu"`` gives the bare type of the device that the test runs on: each variant knows its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.device_nodes import check_visible, no_comment
from codemods.device_questions import Question, is_question
from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked, DeviceValue, Spot
from codemods.edit import SourceFile, Splice
from codemods.plan import Context
from hwlint.scan.facts import Function, Requirement, Span
from hwlint.scan.names import dotted, span_of

REGISTERED = "torch._C._get_privateuse1_backend_name"
"""What asks for the name of the back end that is registered as PrivateUse1."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An ``if`` statement that binds ``name`` to the type of the device that there is."""

    span: Span
    name: str
    asked: tuple[Question, ...]
    """Its conditions."""
    complete: bool
    """Whether it chooses the CPU where there is no accelerator; else the name is unbound there."""


def device_choices(context: Context, function: Function) -> tuple[Choice, ...]:
    """The choices among the function's statements, nested functions left out."""
    if not any(gate.form == "if_block" for gate in function.gates):
        return ()
    tree = FunctionTree(context.source(), context.source().function_at(function.line))
    found = (_choice(tree, function, node) for node in ast.walk(tree.node) if isinstance(node, ast.If))
    return tuple(choice for choice in found if choice is not None)


def _choice(tree: FunctionTree, function: Function, node: ast.If) -> Choice | None:
    around = tree.parent(node)
    if isinstance(around, ast.If) and node in around.orelse or next(tree.scopes_between(node), None) is not None:
        return None
    names: set[str] = set()
    asked: list[Question] = []
    for test, body in _branches(node):
        name, value = _bound(body)
        names.add(name)
        if test is None:
            fits = isinstance(value, ast.Constant) and value.value == "cpu"
        else:
            required = _required(tree, function, test)
            fits = required is not None and value is not None and _is_type_of(required, value)
            asked.append(Question(span_of(test), "", None, names_cuda=True))
        if not fits:
            return None
    if len(names) != 1:
        return None
    return Choice(span_of(node), names.pop(), tuple(asked), complete=any(test is None for test, _ in _branches(node)))


def _branches(node: ast.If) -> Iterator[tuple[ast.expr | None, list[ast.stmt]]]:
    """Each condition of ``if`` and ``elif`` with its block, and None with that of ``else``."""
    yield node.test, node.body
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        yield from _branches(node.orelse[0])
    elif node.orelse:
        yield None, node.orelse


def _bound(body: list[ast.stmt]) -> tuple[str, ast.expr | None]:
    """The name that the only statement of a block binds, and the value; '' and None for any other block."""
    only = body[0] if len(body) == 1 else None
    if isinstance(only, ast.Assign) and len(only.targets) == 1 and isinstance(only.targets[0], ast.Name):
        return only.targets[0].id, only.value
    return "", None


def _required(tree: FunctionTree, function: Function, test: ast.expr) -> Requirement | None:
    """The one device that the condition asks for; None for any other question."""
    gate = next((g for g in function.gates if g.span == span_of(test)), None)
    if gate is None or gate.combine or len(gate.requirements) != 1 or not is_question(tree, test):
        return None
    required = gate.requirements[0]
    return required if required.kind == "device" and not required.absent else None


def _is_type_of(required: Requirement, value: ast.expr) -> bool:
    """Whether the value is the bare type of the device that is asked for, one that the loader makes a class for."""
    if isinstance(value, ast.Constant):
        return value.value == required.value == "cuda"
    plain = isinstance(value, ast.Call) and not value.args and not value.keywords
    return required.value == "privateuse1" and plain and dotted(value.func) == REGISTERED  # type: ignore[attr-defined]


def choice_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """The statement -> ``device = torch.device(device).type``."""
    node = next((n for n in ast.walk(tree.node) if isinstance(n, ast.If) and span_of(n) == spot.span), None)
    if node is None:
        raise Blocked("layout", f"the choice of a device is not where it was (line {spot.span.line})", spot.span)
    check_visible(tree, node, value)
    start, end = file.node_range(node)
    no_comment(file, start, end)
    return [Splice(start, end, f"{spot.old} = {value.type_text}")]
