"""Takes the process-group back end of a device-generic test from its device, and its requirement likewise.

``"nccl"`` as an argument of ``init_process_group`` or ``new_group`` becomes
``get_default_backend_for_device(device)``; ``@requires_nccl()`` becomes ``@requires_accelerator_dist_backend()``.
Where a back end is what is tested, it stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codemods.device_changes import TestChange, applicability_of, plan_tests, restriction, test_splices
from codemods.device_spots import Ground, newer_than, spot_of
from codemods.device_values import Blocked, FunctionEdit, Spot
from codemods.edit import SourceFile, Splice
from codemods.imports import is_taken
from codemods.plan import Change, Codemod, Context, Import, Plan
from hwlint.rules.home import home_device
from hwlint.scan.facts import Decorator, Function
from hwlint.scan.spans import function_span
from hwlint.suite.model import LinkedClass

COMMON_DISTRIBUTED = "torch.testing._internal.common_distributed"


class DistributedBackend(Codemod):
    name = "distributed_backend"
    summary = "Takes the process-group back end of a device-generic test from its device."

    def plan(self, context: Context) -> Plan:
        plan = plan_tests(self.name, context, "take the back end from the device", _spots)
        return replace(plan, changes=_with_requirements(context, plan.changes))

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        return [s for change in changes if isinstance(change, TestChange) for s in test_splices(file, change)]


def _spots(context: Context, cls: LinkedClass, function: Function, ground: Ground) -> tuple[Spot, ...]:
    uses = [u for u in function.uses if u.construct == "backend"]
    return tuple(spot for spot in (spot_of(use, ground) for use in uses) if spot is not None)


def requirement(context: Context, decorator: Decorator) -> Import | None:
    """The device-generic form of ``@requires_nccl()``, where the torch that is configured has it."""
    entry = context.catalog.find_decorator(decorator.qualified)
    if entry is None or entry.role != "library" or entry.library not in ("nccl", "xccl") or decorator.arguments:
        return None
    generic = context.catalog.decorators.get(entry.generic_form)
    if generic is None or newer_than(generic.since, context.settings):
        return None
    one = Import(COMMON_DISTRIBUTED, generic.name)
    return None if is_taken(context.module, one) else one


@dataclass(frozen=True, slots=True)
class _Found:
    cls: LinkedClass
    function: Function
    swapped: tuple[tuple[Decorator, Import], ...]


def _with_requirements(context: Context, changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes with the requirement decorators of their tests; and changes of tests that have only those."""
    by_symbol = {c.symbol: c for c in changes}
    for found in _requirements(context):
        symbol = f"{found.cls.facts.qualname}.{found.function.name}"
        swapped = tuple((d.span, f"{one.name}()") for d, one in found.swapped)
        imports = tuple(dict.fromkeys(one for _, one in found.swapped))
        known = by_symbol.get(symbol)
        if isinstance(known, TestChange):
            edit = replace(known.function, swapped=swapped)
            by_symbol[symbol] = replace(known, function=edit, imports=(*known.imports, *imports))
        elif not any(u.construct == "backend" and u.role != "fake" for u in found.function.uses):
            by_symbol[symbol] = TestChange(
                codemod=DistributedBackend.name,
                symbol=symbol,
                span=function_span(found.function),
                description="ask for the back end of any accelerator",
                applicability=applicability_of(restriction(context, found.cls, found.function)),
                imports=imports,
                function=FunctionEdit(found.function.line, swapped=swapped),
            )
    return tuple(sorted(by_symbol.values(), key=lambda c: c.span))


def _requirements(context: Context) -> list[_Found]:
    found = []
    for cls in context.test_classes():
        if not cls.is_instantiated or home_device(cls):
            continue
        for function in cls.own_tests:
            pairs = [(d, requirement(context, d)) for d in function.decorators]
            swapped = tuple((d, one) for d, one in pairs if one is not None)
            if swapped and "device" in function.parameters:
                found.append(_Found(cls, function, swapped))
    return found


__all__ = ["Blocked", "DistributedBackend", "requirement"]
