"""Changes of single tests that take ``device`` already: what several codemods have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codemods.device_claims import check_members, check_profiled
from codemods.device_signature import function_splices
from codemods.device_spots import Ground
from codemods.device_values import Blocked, DeviceValue, FunctionEdit, Spot
from codemods.edit import SourceFile, Splice
from codemods.plan import Applicability, Change, Context, Import, Plan, PlanBuilder
from hwlint.rules.home import home_device
from hwlint.scan.facts import Function
from hwlint.scan.spans import function_span
from hwlint.suite.model import LinkedClass

DISTRIBUTED = frozenset(("distributed", "fsdp", "dtensor"))
SpotPlanner = Callable[[Context, LinkedClass, Function, Ground], tuple[Spot, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestChange(Change):
    """One test."""

    __test__ = False

    function: FunctionEdit
    profiled: bool = False
    """It must not look for events of one vendor's runtime."""


def test_splices(file: SourceFile, change: TestChange) -> list[Splice]:
    node = file.function_at(change.function.line)
    check_members(node)
    if change.profiled:
        check_profiled(node)
    return function_splices(file, change.function)


def value_of(cls: LinkedClass) -> DeviceValue:
    """What stands for the device in the tests of ``cls``."""
    per_rank = any(b.kind in DISTRIBUTED for b in cls.framework_bases)
    return DeviceValue(per_rank=per_rank)


def restriction(context: Context, cls: LinkedClass, function: Function) -> str:
    """The one device type, or 'accelerator', that the test runs on; '' where that may be the CPU."""
    devices = set(cls.devices.devices) if cls.devices.exact else {"cpu"}
    for decorator in function.decorators:
        entry = context.catalog.find_decorator(decorator.qualified)
        if entry is None or entry.role != "whitelist":
            continue
        if entry.devices == ("accelerator",):
            devices -= {"cpu"}
        elif entry.devices and not decorator.called:
            devices &= set(entry.devices)
    if "cpu" in devices or not devices:
        return ""
    return next(iter(devices)) if len(devices) == 1 else "accelerator"


def applicability_of(restricted: str) -> Applicability:
    """That of a change which is the same on CUDA: ``restricted`` is what the test is kept to, as restriction()."""
    return "safe" if restricted in ("cuda", "accelerator") else "unsafe"


def plan_tests(
    codemod: str,
    context: Context,
    description: str,
    spots_of: SpotPlanner,
    *,
    cpu_too: bool = False,
    profiled: bool = False,
) -> Plan:
    """A change for each test of an instantiated class for which ``spots_of`` gives any spots.

    ``cpu_too``: what the spots become may run on the CPU as well. A class for one device is left alone.
    """
    plan = PlanBuilder(codemod)
    for cls in context.test_classes():
        if not cls.is_instantiated or home_device(cls) or cls.label == "GENERIC":
            continue
        for function in cls.own_tests:
            if "device" not in function.parameters:
                continue
            kept = restriction(context, cls, function)
            try:
                spots = spots_of(context, cls, function, Ground(context.catalog, context.settings, bool(kept)))
                if spots and not kept and not cpu_too:
                    raise Blocked("raises-without-accelerator", "it may run on the CPU", spots[0].span)
                if spots and dict(context.module.imports).get("torch", "torch") != "torch":
                    raise Blocked("name-taken", "`torch` means something else in this file")
            except Blocked as blocked:
                symbol = f"{cls.facts.qualname}.{function.name}"
                plan.refuse(symbol, blocked.reason, blocked.text, blocked.span or function_span(function))
                continue
            if not spots:
                continue
            plan.add(
                TestChange(
                    codemod=codemod,
                    symbol=f"{cls.facts.qualname}.{function.name}",
                    span=function_span(function),
                    description=description,
                    applicability=applicability_of(kept),
                    imports=() if "torch" in dict(context.module.imports) else (Import("torch"),),
                    function=FunctionEdit(function.line, value_of(cls), spots=spots),
                    profiled=profiled,
                )
            )
    return plan.done()
