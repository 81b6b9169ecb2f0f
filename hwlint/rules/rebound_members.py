"""HW609: static and class methods that an instantiation binds anew.

``instantiate_device_type_tests`` sets each member of the class's own body that is no test on the class it makes, as
``getattr`` gives it (torch/testing/_internal/common_device_type.py, torch 2.14.1): a static method arrives as a plain
function, which an instance then binds; a class method arrives bound to the class that was written, not to the one for
the device.
"""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.findings import Finding, Fix, Related
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.collected import IMPORTS
from hwlint.scan.facts import Function
from hwlint.scan.spans import function_span
from hwlint.suite.model import LinkedClass

DEVICE_ATTRIBUTES = ("cls.device_type", "cls.get_primary_device", "cls.get_all_devices")
"""What only the class for the device has (DeviceTypeTestBase)."""
CALLED_ON_THE_RIGHT_CLASS = ("setUpClass", "tearDownClass")
"""The instantiation calls these with the class for the device."""


class ReboundMember(Rule):
    code = "HW609"
    name = "rebound-class-member"
    summary = "A static or class method of an instantiated class, used in a way that instantiation breaks."
    why = (
        "`instantiate_device_type_tests` copies the members of the class to the one it makes with getattr and setattr "
        "(torch/testing/_internal/common_device_type.py, torch 2.14.1). A static method becomes a plain function by "
        "that: called as `self.name()`, it gets the instance as its first argument. A class method stays bound to the "
        "class as written, which has no `device_type`."
    )
    bad = (
        IMPORTS
        + """

class ShapeTest(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    @staticmethod
    def shapes():
        return [(2,), (3, 4)]

    def test_shapes(self, device):
        for shape in self.shapes():
            torch.ones(shape, device=device)


instantiate_device_type_tests(ShapeTest, globals())
"""
    )
    good = bad.replace("    @staticmethod\n    def shapes():", "    def shapes(self):")
    references = ("pytorch/pytorch#151129",)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in context.suite.classes_in(context.module.path):
            if not cls.is_instantiated:
                continue
            for method in {m.name: m for m in cls.facts.methods}.values():
                decorators = {d.name for d in method.decorators}
                if "staticmethod" in decorators:
                    yield from self._static(cls, method)
                elif "classmethod" in decorators and method.name not in CALLED_ON_THE_RIGHT_CLASS:
                    yield from self._class(cls, method)

    def _static(self, cls: LinkedClass, method: Function) -> Iterator[Finding]:
        callers = [
            Related(owner.path, function_span(f), f"{owner.facts.qualname}.{f.name} calls it on the instance")
            for owner in cls.mro
            for f in owner.facts.methods
            if f"self.{method.name}" in f.references
        ]
        if callers:
            text = "is a static method, and gets the instance as its first argument once the class is instantiated"
            fix = Fix("make it an ordinary method, or a function of the module", "shown")
            yield self._finding(cls, method, text, fix, tuple(callers))

    def _class(self, cls: LinkedClass, method: Function) -> Iterator[Finding]:
        read = [name for name in DEVICE_ATTRIBUTES if name in method.references]
        if read and "device_type" not in dict(cls.facts.attributes):
            text = f"is a class method bound to '{cls.name}' itself, which has no `{read[0].removeprefix('cls.')}`"
            yield self._finding(cls, method, text, Fix("make it an ordinary method that reads self", "shown"), ())

    def _finding(
        self, cls: LinkedClass, method: Function, text: str, fix: Fix, related: tuple[Related, ...]
    ) -> Finding:
        return Finding(
            code=self.code,
            path=cls.path,
            span=function_span(method),
            severity=self.severity,
            message=f"'{cls.facts.qualname}.{method.name}' {text}",
            symbol=f"{cls.facts.qualname}.{method.name}",
            detail=method.name,
            related=related[:3],
            fix=fix,
        )


RULES: tuple[type[Rule], ...] = (ReboundMember,)
