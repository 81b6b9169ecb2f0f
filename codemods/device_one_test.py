"""Tests of a class that is instantiated already: one that is restricted to accelerators runs on its ``device``."""

from __future__ import annotations

from codemods.device_changes import restriction, value_of
from codemods.device_class import check_decorators
from codemods.device_fakes import check_fakes
from codemods.device_golden import check_golden
from codemods.device_imports import check_torch, torch_for
from codemods.device_passed import with_types
from codemods.device_plan import is_accelerator_use
from codemods.device_spots import Ground, spots_of
from codemods.device_tree import FunctionTree
from codemods.device_unread import first_to_ask
from codemods.device_values import Blocked, DeviceChange, FunctionEdit
from codemods.plan import Context, PlanBuilder
from hwlint.scan.facts import Function
from hwlint.scan.spans import function_span
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import reach


def tests_of_instantiated(plan: PlanBuilder, context: Context, cls: LinkedClass) -> list[DeviceChange]:
    """A change for each test that names devices it is not free to name; the others are left without a word."""
    found = []
    for function in cls.own_tests:
        if not any(is_accelerator_use(u) and u.role == "placement" for u in function.uses):
            continue
        if "devices" in function.parameters:
            continue
        try:
            change = _one_test(plan.codemod, context, cls, function)
        except Blocked as blocked:
            symbol = f"{cls.facts.qualname}.{function.name}"
            plan.refuse(symbol, blocked.reason, blocked.text, blocked.span or function_span(function))
        else:
            if change is not None:
                found.append(change)
    return found


def _one_test(codemod: str, context: Context, cls: LinkedClass, function: Function) -> DeviceChange | None:
    restricted = restriction(context, cls, function)
    if not restricted:
        raise Blocked("mixed-devices", "it runs on the CPU as well, and names an accelerator of its own")
    if restricted not in ("cuda", "accelerator"):
        return None
    if cls.label == "GENERIC":
        raise Blocked("contradiction", "its class is tagged GENERIC")
    check_torch(context)
    reached = reach(cls, function)
    ground = Ground(context.catalog, context.settings, True)
    placements = [
        u
        for u in function.uses
        if u.construct != "api" and u.role in ("placement", "comparison", "text", "parametrization", "unknown")
    ]
    _check_flags(context, function)
    check_fakes(context.source(), reached, True)
    for other in reached.functions:
        if (
            other.function is not function
            and other.function.kind != "setup"
            and any(is_accelerator_use(u) for u in other.function.uses)
        ):
            raise Blocked("shared-helper", f"{other.symbol} names a device itself", other.function.span)
    spots = with_types(context, function, spots_of(placements, ground))
    if not spots:
        return None
    takes = "device" in function.parameters
    if not takes and FunctionTree(context.source(), context.source().function_at(function.line)).reads_outer("device"):
        raise Blocked("name-taken", "`device` is a name of the module that it reads")
    if not takes:
        check_decorators(context, function.decorators, frozenset(g.span for g in function.gates), "the test")
    edit = FunctionEdit(function.line, value_of(cls), "" if takes else "device", spots)
    import_time = "" if takes else first_to_ask(context, cls)
    return DeviceChange(
        codemod=codemod,
        symbol=f"{cls.facts.qualname}.{function.name}",
        span=function_span(function),
        description="run on `device`" if takes else "take `device`, and run on it",
        applicability="safe" if restricted == "cuda" and not import_time else "unsafe",
        imports=torch_for(context, (edit,)),
        class_line=cls.facts.line,
        functions=(edit,),
    )


def _check_flags(context: Context, function: Function) -> None:
    if "golden" in function.flags:
        check_golden(context.source().function_at(function.line), function.uses, "it")
    for flag, reason, text in (
        ("string_program", "string-program", "it runs code that stands in a string"),
        ("subprocess", "subprocess", "it starts another process"),
    ):
        if flag in function.flags:
            raise Blocked(reason, text)
