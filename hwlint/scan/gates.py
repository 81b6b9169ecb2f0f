"""Gates: skips and guards that ask for a device, wherever they stand and whatever their form."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from hwlint.scan.context import ScanContext
from hwlint.scan.device_places import CONDITIONAL
from hwlint.scan.facts import Gate, GateForm, Requirement, Span
from hwlint.scan.gate_conditions import asks_device, read_condition, read_negated
from hwlint.scan.gate_decorators import ALWAYS_SKIP, decorator_gates, find_decorator
from hwlint.scan.gate_formula import Combine
from hwlint.scan.names import dotted, source_of, span_of

__all__ = [
    "block_gate",
    "body_gates",
    "decorator_gates",
    "expression_gates",
    "is_gate",
    "module_gates",
    "read_condition",
]

SETUP = frozenset(
    """setUp setUpClass asyncSetUp setup_method setUpModule tearDown tearDownClass asyncTearDown teardown_method
    tearDownModule""".split()
)
"""What runs around a test: only a skip in it keeps the test from running."""


def is_gate(node: ast.expr, context: ScanContext) -> bool:
    """Whether a decorator, by its name, is a gate or otherwise known to place nothing."""
    written = dotted(node.func if isinstance(node, ast.Call) else node)
    if not written:
        return False
    constant = context.constants.get(written)
    if constant is not None:
        return bool(constant.requirements)
    qualified = context.names.qualify_name(written)
    if qualified.rpartition(".")[2] in CONDITIONAL or qualified in ALWAYS_SKIP:
        return True
    entry = find_decorator(written, qualified, context)
    return entry is not None and entry.role != "parametrization"


def block_gate(test: ast.expr, context: ScanContext, negated: bool, span: Span) -> Gate | None:
    """The gate that ``if test:`` (``negated``: its ``else``) is for a class in it."""
    requirements, combine = (read_negated if negated else read_condition)(test, context)
    if not asks_device(requirements, context):
        return None
    text = f"not ({source_of(test)})" if negated else source_of(test)
    return Gate(span, "if_class", text, requirements, combine)


def body_gates(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    context: ScanContext,
    asked: Sequence[ast.expr] = (),
    read_all: bool = True,
) -> tuple[Gate, ...]:
    """Gates in a function's own statements: skips, raised skips, early returns, and conditions around part of it.

    A gate that stops the whole function is blocking, of form 'setup' in a set-up method; a guard around some statements
    is not. ``asked`` are further conditions in it: in expressions, loops and local functions. Without ``read_all``,
    statements on lines without a hit are passed over until a local name is bound on one with a hit.
    """
    setup = node.name in SETUP
    local_values: dict[str, ast.expr] = {}
    body = _without_docstring(node.body)
    whole = (
        body[-1] if body and all(isinstance(s, (ast.Assign, ast.Import, ast.ImportFrom)) for s in body[:-1]) else None
    )
    found: list[Gate] = []
    read: set[int] = set()
    for statement, depth in _flat(body, 0):
        if not (
            read_all or local_values or context.has_hit(statement.lineno, statement.end_lineno or statement.lineno)
        ):
            continue
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = dotted(statement.targets[0])
            if target and "." not in target.removeprefix("self."):
                local_values[target] = statement.value
        elif isinstance(statement, ast.If):
            test = statement.test
            read.add(id(test))
            if not (read_all or local_values or context.has_hit(test.lineno, test.end_lineno or test.lineno)):
                continue
            gate = _if(statement, context, local_values, depth, whole=statement is whole)
            if gate is not None:
                found.append(_as_setup(gate) if setup else gate)
    found.extend(expression_gates([test for test in asked if id(test) not in read], context, local_values))
    return tuple(found)


def expression_gates(
    tests: Sequence[ast.expr], context: ScanContext, local_values: Mapping[str, ast.expr] = {}
) -> tuple[Gate, ...]:
    """Conditions inside expressions (``"cuda" if TEST_CUDA else "cpu"``): they leave out part of a test."""
    found = []
    for test in tests:
        requirements, combine = read_condition(test, context, local_values)
        if asks_device(requirements, context) and not _about_running_device(test, context):
            found.append(Gate(span_of(test), "if_block", source_of(test), requirements, combine, "", blocking=False))
    return tuple(found)


def module_gates(tree: ast.Module, context: ScanContext) -> tuple[Gate, ...]:
    """Gates of the whole file: exits and raised skips at import, conditions on ``run_tests()`` in the main block.

    Other conditions at import are gates of form 'if_block' that are not blocking.
    """
    found: list[Gate] = []
    for statement in tree.body:
        if not isinstance(statement, (ast.If, ast.Try)) or not context.has_hit(
            statement.lineno, statement.end_lineno or statement.lineno
        ):
            continue
        if isinstance(statement, ast.If) and _is_main(statement.test):
            found.extend(_main_gates(statement.body, context))
            continue
        for inner, _ in _flat([statement], 0):
            if isinstance(inner, ast.If):
                gate = _exit(inner, context) or _import_time(inner, context)
                if gate is not None:
                    found.append(gate)
    return tuple(found)


# -- conditions in a body ----------------------------------------------------------------------------------------------


def _if(
    node: ast.If, context: ScanContext, local_values: Mapping[str, ast.expr], depth: int, whole: bool
) -> Gate | None:
    form = _stops(node.body)
    other = _stops(node.orelse) if node.orelse else None
    if form is not None:
        requirements, combine = read_negated(node.test, context, local_values)
        blocking = depth == 0
    elif other is not None:
        requirements, combine = read_condition(node.test, context, local_values)
        form, blocking = other, depth == 0
    else:
        requirements, combine = read_condition(node.test, context, local_values)
        form, blocking = "if_block", depth == 0 and whole and not node.orelse
    if not asks_device(requirements, context):
        return None
    if form == "if_block" and _about_running_device(node.test, context):
        return None  # a comparison of the test's own device: a use, not a question to the host
    reason = _skip_reason(node.body if _stops(node.body) else node.orelse)
    return _gate(
        node, form if depth == 0 or form != "early_return" else "if_block", requirements, combine, reason, blocking
    )


def _gate(
    node: ast.If, form: GateForm, requirements: tuple[Requirement, ...], combine: Combine, reason: str, blocking: bool
) -> Gate:
    return Gate(span_of(node.test), form, source_of(node.test), requirements, combine, reason, blocking)


def _as_setup(gate: Gate) -> Gate:
    """The same in a set-up method, where only a skip stops the tests."""
    if gate.form in ("skip_call", "raise_skip") and gate.blocking:
        return Gate(gate.span, "setup", gate.name, gate.requirements, gate.combine, gate.reason)
    form: GateForm = "if_block" if gate.form == "early_return" else gate.form
    return Gate(gate.span, form, gate.name, gate.requirements, gate.combine, gate.reason, blocking=False)


def _about_running_device(test: ast.expr, context: ScanContext) -> bool:
    """Whether every device named in the condition is compared with a value, and nothing is asked of the host."""
    for child in ast.walk(test):
        if isinstance(child, (ast.Name, ast.Attribute)):
            written = dotted(child)
            if not written:
                continue
            constant = context.constants.get(written)
            if constant is not None and constant.requirements:
                return False
            qualified = context.names.qualify_name(written)
            flag = context.catalog.find_flag(qualified) or context.catalog.flags.get(qualified.rpartition(".")[2])
            if flag is not None and flag.asks != "value":
                return False
    return any(isinstance(child, ast.Constant) and isinstance(child.value, str) for child in ast.walk(test))


def _stops(body: Sequence[ast.stmt]) -> GateForm | None:
    """How a block ends the test: with a skip, a raised skip or a plain return."""
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            name = dotted(statement.value.func)
            if name.endswith((".skipTest", "pytest.skip")):
                return "skip_call"
            if name in ("sys.exit", "exit", "os._exit"):
                return "module_exit"
        elif isinstance(statement, ast.Raise) and statement.exc is not None:
            raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
            if dotted(raised).rpartition(".")[2] in ("SkipTest", "Skipped", "SkipException"):
                return "raise_skip"
    last = body[-1] if body else None
    if isinstance(last, ast.Return) and (
        last.value is None or isinstance(last.value, ast.Constant) and last.value.value is None
    ):
        quiet = all(isinstance(s, ast.Expr) for s in body[:-1])
        return "early_return" if quiet else None
    return None


def _skip_reason(body: Sequence[ast.stmt]) -> str:
    for statement in body:
        call = (
            statement.value
            if isinstance(statement, ast.Expr)
            else statement.exc
            if isinstance(statement, ast.Raise)
            else None
        )
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant):
            return str(call.args[0].value)
    return ""


def _flat(body: Sequence[ast.stmt], depth: int) -> Iterator[tuple[ast.stmt, int]]:
    """Statements with how many loops and branches are around them; those of local functions are left out."""
    for node in body:
        yield node, depth
        if node.__class__ in _SIMPLE:
            continue
        inner = depth if isinstance(node, (ast.With, ast.AsyncWith, ast.Try)) else depth + 1
        for name in ("body", "orelse", "finalbody"):
            yield from _flat(getattr(node, name, None) or (), inner)
        for handler in getattr(node, "handlers", None) or ():
            yield from _flat(handler.body, depth + 1)


_SIMPLE = frozenset(
    (
        ast.Assign,
        ast.AnnAssign,
        ast.AugAssign,
        ast.Expr,
        ast.Return,
        ast.Raise,
        ast.Assert,
        ast.Delete,
        ast.Pass,
        ast.Import,
    )
    + (
        ast.ImportFrom,
        ast.Global,
        ast.Nonlocal,
        ast.Break,
        ast.Continue,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
    )
)
"""Statements without a block of the same function in them."""


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    return body[1:] if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else body


# -- the module --------------------------------------------------------------------------------------------------------


def _exit(node: ast.If, context: ScanContext) -> Gate | None:
    form = _stops(node.body)
    if form not in ("module_exit", "raise_skip", "skip_call"):
        return None
    requirements, combine = read_negated(node.test, context)
    if not asks_device(requirements, context):
        return None
    return _gate(node, "module_exit", requirements, combine, _skip_reason(node.body), True)


def _import_time(node: ast.If, context: ScanContext) -> Gate | None:
    """A question to the host at import that stops nothing: what it sets or makes depends on the machine.

    The gates of the classes in it are :func:`block_gate`'s.
    """
    if any(isinstance(s, (ast.ClassDef, ast.If, ast.Try, ast.With, ast.For)) for s in (*node.body, *node.orelse)):
        return None
    requirements, combine = read_condition(node.test, context)
    if not asks_device(requirements, context):
        return None
    return _gate(node, "if_block", requirements, combine, "", False)


def _main_gates(body: Sequence[ast.stmt], context: ScanContext) -> Iterator[Gate]:
    for statement, _ in _flat(body, 0):
        if not isinstance(statement, ast.If):
            continue
        stops = _stops(statement.body)
        runs = any(
            isinstance(child, ast.Call) and dotted(child.func).rpartition(".")[2] in ("run_tests", "main")
            for part in statement.body
            for child in ast.walk(part)
        )
        if not runs and stops is None:
            continue
        requirements, combine = (read_condition if runs else read_negated)(statement.test, context)
        if asks_device(requirements, context):
            form: GateForm = "if_block" if runs else "module_exit"
            yield _gate(statement, form, requirements, combine, "", True)


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and dotted(test.left) == "__name__"
