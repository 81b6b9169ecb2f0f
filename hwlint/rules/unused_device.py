"""HW206: a device parameter that is not used, or used for some tensors only."""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.findings import Finding, Fix, Related, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.home import home_device, is_binding
from hwlint.scan.facts import Function
from hwlint.scan.spans import function_span
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import reach

DEVICE_OF_TEST = frozenset(("self.device_type", "self.get_primary_device", "self.get_all_devices"))
"""How a method asks the class that it runs in for the device."""
PARAMETRIZED = ("deviceCountAtLeast", "ops", "modules", "optims")
"""Decorators that choose by the device what the test gets."""
KEPT = frozenset(("onlyCPU", "onlyAccelerator"))
"""Decorators of tests that are not the same on every device: there are some on which they do not run."""


def finds_device(cls: LinkedClass, function: Function) -> bool:
    """Whether a test gets to the device of its class by another way than its parameter, and so differs by device.

    Through the fixture of a framework base, what the class knows of itself, what a decorator passes, or a fixture or
    helper that runs on an accelerator. The parameter is then there for the contract alone, which is no fault of the
    test: ``hwlint migrate`` adds it there, and beside ``@onlyAccelerator``.
    """
    if cls.framework_devices or any(d.name.rpartition(".")[2] in PARAMETRIZED for d in function.decorators):
        return True
    found = reach(cls, function)
    if any(DEVICE_OF_TEST & set(r.function.references) for r in found.functions):
        return True
    own = {id(use) for use in function.uses}
    return any(
        id(one.use) not in own
        and one.use.role in ("placement", "api", "backend")
        and is_binding(one.use.device, cls.suite.catalog)
        for one in found.uses
    )


def is_kept_off_cpu(cls: LinkedClass) -> bool:
    """Whether ``cls`` is instantiated, and not for the CPU: its tests run where there is an accelerator alone, and in
    a class that is not instantiated they would run everywhere.
    """
    devices = cls.devices.devices
    return bool(devices) and cls.devices.exact and "cpu" not in devices


class UnusedDevice(Rule):
    code = "HW206"
    name = "unused-device"
    severity = Severity.WARNING
    summary = "A test that takes a device and does not use it, or uses it for some of its tensors only"
    why = (
        "A device parameter that nothing reads makes one copy of the same test per device "
        "(pytorch/pytorch#193350); a test that places some tensors on device and others elsewhere fails on every "
        "device but one. Where the test gets to its device in another way (the fixture of its base, self.device_type, "
        "a helper), or @onlyAccelerator or the instantiation keeps it off the CPU, the parameter is what the contract "
        "asks for, and nothing is said."
    )
    bad = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase


class SubTest(TestCase):
    def test_sub(self, device):
        x = torch.ones(3)
        self.assertEqual(x - x, torch.zeros(3))


instantiate_device_type_tests(SubTest, globals())
"""
    good = bad.replace("torch.ones(3)", "torch.ones(3, device=device)").replace(
        "torch.zeros(3)", "torch.zeros(3, device=device)"
    )
    references = ("pytorch/pytorch#193350",)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in context.suite.classes_in(context.module.path):
            for function in cls.own_tests:
                if function.mixed:
                    yield self._mixed(context, cls, function)
                elif self._is_unused(cls, function):
                    yield self._unused(context, cls, function)

    def _is_unused(self, cls: LinkedClass, function: Function) -> bool:
        if function.reads_device or not ({"device", "devices"} & set(function.parameters)):
            return False
        if not (cls.is_instantiated or cls.label == "ACCELERATOR") or home_device(cls):
            return False  # one device only: upstream's contract asks for the parameter all the same
        if finds_device(cls, function) or is_kept_off_cpu(cls):
            return False
        if KEPT & {d.name.rpartition(".")[2] for d in function.decorators}:
            return False
        # A body that does nothing (pass, raise NotImplementedError, a skip) is a placeholder.
        return bool(set(function.references) - {"NotImplementedError", "self.skipTest", "unittest", "SkipTest"})

    def _unused(self, context: RuleContext, cls: LinkedClass, function: Function) -> Finding:
        symbol = f"{cls.facts.qualname}.{function.name}"
        name = "devices" if "devices" in function.parameters else "device"
        fix = Fix(f"place its tensors on {name}, or move it to a GENERIC class without the parameter", "shown")
        return Finding(
            code=self.code,
            path=context.module.path,
            span=function_span(function),
            severity=Severity.WARNING,
            message=f"{symbol} never reads its {name} parameter and does the same on every device; {fix.message}",
            symbol=symbol,
            detail="unused",
            role="placement",
            fix=fix,
        )

    def _mixed(self, context: RuleContext, cls: LinkedClass, function: Function) -> Finding:
        symbol = f"{cls.facts.qualname}.{function.name}"
        path = context.module.path
        fix = Fix("place all operands on device", "shown")
        message = f"{symbol} combines a tensor on device with one placed elsewhere in one expression; {fix.message}"
        first, *rest = sorted(function.mixed)
        return Finding(
            code=self.code,
            path=path,
            span=first,
            severity=Severity.WARNING,
            message=message,
            symbol=symbol,
            detail="mixed",
            role="placement",
            related=tuple(Related(path, span, "and here") for span in rest),
            fix=fix,
        )
