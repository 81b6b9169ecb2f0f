"""One function or method -> Function."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from hwlint.scan import gates
from hwlint.scan.body import read_function as read_body
from hwlint.scan.context import ScanContext
from hwlint.scan.facts import Decorator, Function, FunctionKind, Span
from hwlint.scan.literals import read_arguments
from hwlint.scan.names import dotted, span_of

SETUP = frozenset(
    (
        "setUp",
        "tearDown",
        "setUpClass",
        "tearDownClass",
        "asyncSetUp",
        "asyncTearDown",
        "__init__",
        "run",
        "setup_method",
    )
)
"""Methods that a test reaches without calling them (unittest.TestCase, IsolatedAsyncioTestCase)."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
NOT_TESTS = ("property", "staticmethod", "classmethod", "cached_property")


def parameters(node: FunctionNode) -> tuple[str, ...]:
    """Names of the parameters, without ``*args`` and ``**kwargs``."""
    arguments = node.args
    if not arguments.posonlyargs and not arguments.kwonlyargs:
        return tuple([a.arg for a in arguments.args])
    return tuple([a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)])


def defaulted(node: FunctionNode) -> tuple[str, ...]:
    """Names of the parameters that have a default."""
    arguments = node.args
    if not arguments.defaults and not arguments.kw_defaults:
        return ()
    positional = (*arguments.posonlyargs, *arguments.args)
    names = [a.arg for a in positional[len(positional) - len(arguments.defaults) :]]
    names += [a.arg for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults) if default is not None]
    return tuple(names)


def first_line(node: FunctionNode | ast.ClassDef) -> int:
    """The line of the first decorator, or of ``def``/``class``."""
    return min([d.lineno for d in node.decorator_list]) if node.decorator_list else node.lineno


def read_decorators(nodes: list[ast.expr], context: ScanContext) -> tuple[Decorator, ...]:
    """Decorators in source order; the arguments are read through the module's constants."""
    found = []
    for node in nodes:
        call = node if isinstance(node, ast.Call) else None
        name = dotted(call.func if call is not None else node)
        arguments = read_arguments(call, context.constants) if call is not None else ()
        qualified = context.names.qualify_name(name)
        found.append(Decorator(name, qualified, span_of(node), call is not None, arguments))
    return tuple(found)


def read_function(
    node: FunctionNode,
    context: ScanContext,
    class_name: str = "",
    self_devices: Mapping[str, str] = {},
    conditional: bool = False,
) -> Function:
    """``class_name`` is '' for a function of the module; ``conditional`` for one inside an ``if`` of the class body."""
    decorators = read_decorators(node.decorator_list, context)
    kind: FunctionKind = "helper"
    if class_name and node.name.startswith("test") and not any(d.name in NOT_TESTS for d in decorators):
        kind = "test"
    elif node.name in SETUP:
        kind = "setup"
    body = read_body(node, context, class_name=class_name, self_devices=self_devices)
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    own_gates = body.gates
    if node.decorator_list:
        own_gates = gates.decorator_gates(node.decorator_list, context, on_class=False) + own_gates
    return Function(
        name=node.name,
        span=Span(first_line(node), node.col_offset, end_line, end_column),
        line=node.lineno,
        kind=kind,
        parameters=parameters(node),
        defaulted=defaulted(node),
        is_async=isinstance(node, ast.AsyncFunctionDef),
        decorators=decorators,
        references=body.references,
        uses=body.uses,
        gates=own_gates,
        reads_device=body.reads_device,
        mixed=body.mixed,
        flags=(*body.flags, "conditional") if conditional else body.flags,
        closing_line=end_line,
    )
