"""Which part of a split class each test belongs in: by its label, where that settles the matter.

A test that is not settled stays in the GENERIC part, which keeps the name and is not instantiated: there all is as it
was.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from codemods.device_class import members_of_module
from codemods.device_parameter import DeviceParameter
from codemods.device_twins import twins_of
from codemods.device_values import Blocked
from codemods.plan import Context
from codemods.registry import chosen
from codemods.split_parts import REST, is_part, names_in
from codemods.split_portable import is_portable, portable_tests
from hwlint.classify.verdict import TestVerdict, Verdict
from hwlint.scan.facts import Function, Gate, Span
from hwlint.scan.names import span_of
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import ReachedGate, reach

VENDORS = ("CUDA", "MPS", "XPU")
ASKS = frozenset("gate vendor-gate vendor-backend capability-gate only-decorator restricted-to-one fixture".split())
"""Kinds of evidence that a test is left out, or fails, where its device is not there."""


def labels_of(context: Context, cls: LinkedClass, verdict: Verdict) -> dict[str, str]:
    """The label of each test; twins stay together, since device_parameter makes one test of them."""
    labels = {t.name: t.label for t in verdict.tests}
    return labels | {cpu: "ACCELERATOR" for cpu, _ in _twins(context, cls, labels)}


def _twins(context: Context, cls: LinkedClass, labels: Mapping[str, str]) -> list[tuple[str, str]]:
    found = twins_of(context, cls) if "ACCELERATOR" in labels.values() else ()
    return [(t.cpu.name, t.other.name) for t in found if labels.get(t.other.name) == "ACCELERATOR"]


def doubts_of(context: Context, cls: LinkedClass, verdict: Verdict) -> dict[str, str]:
    """Tests that their label does not settle, each with the reason."""
    functions = {f.name: f for f in cls.own_tests}
    doubts: dict[str, str] = {}
    for test in verdict.tests:
        function = functions.get(test.name)
        if test.confidence == "unsure":
            doubts[test.name] = f"where `{test.name}` belongs is not sure"
        elif test.label in VENDORS and function is not None and not _is_for_one(context, cls, function, test):
            doubts[test.name] = f"whether `{test.name}` ran without {test.label} as well cannot be told"
    return doubts


def movable(
    context: Context, cls: LinkedClass, labels: Mapping[str, str], doubts: Mapping[str, str]
) -> tuple[str, ...]:
    """The tests for accelerators that are worth a class of their own, since device_parameter can rewrite them."""
    sure = {name: label for name, label in labels.items() if name not in doubts}
    options = context.options
    if is_part(cls) or DeviceParameter not in chosen(options.only, options.skip):
        return ()
    if set(labels.values()) == {"ACCELERATOR"}:
        taken = members_of_module(context)
        if any(name in taken for name in names_in(cls, "ACCELERATOR")) or is_portable(context, cls):
            return ()
    twins = [pair for pair in _twins(context, cls, sure) if all(name in sure for name in pair)]
    paired = {name for pair in twins for name in pair}
    rest = [(name,) for name, label in sure.items() if label == "ACCELERATOR" and name not in paired]
    return portable_tests(context, cls, [*twins, *rest])


def settled(
    verdict: Verdict, labels: Mapping[str, str], doubts: Mapping[str, str], portable: Collection[str]
) -> dict[str, str]:
    """The label of the part that each test goes to. Raises Blocked where one has nowhere to go, or nothing goes.

    What is in doubt stays where all is as it was. Beside ``portable`` tests, what keeps its device gets a class of its
    own, so that it is in the way of no label; where there is a doubt, it stays as well.
    """
    found = {name: label for name, label in labels.items() if name not in doubts}
    generic = "GENERIC" in found.values()
    if doubts and not generic and set(found.values()) - {"ACCELERATOR"}:
        raise Blocked("uncertain", next(iter(doubts.values())))
    if portable or doubts:
        stays = "GENERIC" if doubts and generic else REST
        own = {t.name: t.label for t in verdict.tests}
        for name in found:
            if found[name] == "ACCELERATOR" and name not in portable:
                found[name] = stays if doubts or own[name] == "ACCELERATOR" else own[name]
        found |= dict.fromkeys(doubts, stays)
    if len(set(found.values())) < 2:
        raise Blocked("uncertain", next(iter(doubts.values()), "all of its tests belong together"))
    return found


def _is_for_one(context: Context, cls: LinkedClass, function: Function, test: TestVerdict) -> bool:
    """Whether a test with the label of one vendor does nothing where there is no such device.

    What it does there under a condition, as a fixture that cleans up does, may be all that is for the vendor.
    """
    if any(e.kind in ASKS for e in test.evidence):
        return True
    if not any(_is_partial(one) and _asks(one.gate) for one in reach(cls, function).gates):
        return True
    node = context.source().function_at(function.line)
    device = test.label.lower()
    spans = [u.span for u in function.uses if u.sure and u.device.partition(":")[0] == device]
    return _needs(node.body, spans) or _is_all_gated(node.body, function.gates, device)


def _is_partial(one: ReachedGate) -> bool:
    """Whether the test goes on where the gate is closed: another method that is an ``if`` as a whole just returns."""
    elsewhere = one.scope in ("setup", "helper") and one.gate.form == "if_block"
    return one.scope != "file" and (elsewhere or not one.gate.blocking)


def _asks(gate: Gate) -> bool:
    return any(r.kind in ("device", "accelerator", "count", "unknown") for r in gate.requirements)


def _needs(body: Sequence[ast.stmt], spans: Sequence[Span]) -> bool:
    """Whether the statements come to one of the places under no condition."""
    return any(span_of(node).holds(span) for node in _unconditional(body) for span in spans)


def _unconditional(body: Sequence[ast.stmt]) -> Iterator[ast.expr | ast.stmt]:
    for node in body:
        if isinstance(node, ast.With) and not any("Raises" in ast.dump(item.context_expr) for item in node.items):
            yield from (item.context_expr for item in node.items)
            yield from _unconditional(node.body)
        elif isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)) and not any(
            isinstance(n, (ast.Lambda, ast.IfExp, ast.BoolOp)) for n in ast.walk(node)
        ):
            yield node


def _is_all_gated(body: Sequence[ast.stmt], gates: Sequence[Gate], device: str) -> bool:
    """Whether the statements only define something, but for those under a condition that asks for the device."""
    asked = {
        gate.span.line
        for gate in gates
        if gate.form == "if_block" and gate.combine in ("", "all")
        if any(r.kind == "device" and r.value == device and not r.absent for r in gate.requirements)
    }
    conditions = [n for n in body if isinstance(n, ast.If)]
    rest = [n for n in body if not isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.If))]
    is_bare = all(isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant) for n in rest)
    return is_bare and bool(conditions) and all(n.lineno in asked and not n.orelse for n in conditions)
