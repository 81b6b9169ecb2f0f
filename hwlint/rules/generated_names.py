"""HW602: names that an instantiation generates and that are there already, or say their device twice."""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.findings import Finding, Related, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.collected import IMPORTS
from hwlint.scan.facts import Instantiation
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.ids import generated_classes, generated_names
from hwlint.suite.model import LinkedClass


class GeneratedNames(Rule):
    code = "HW602"
    name = "generated-name-collision"
    summary = "A generated class or test has the name of another one, or says its device twice."
    why = (
        "The generated class is written into the module under `<Class><DEVICE>`: a class of that name that stands "
        "above is replaced, one that stands below replaces it, and its tests are gone (pytorch/pytorch#192128). A "
        "generated test whose name the class already has raises at import. `FooCUDA` instantiated for cuda is not "
        "wrong, but its tests are called `FooCUDACUDA.test_x_cuda` (#197793, #195424)."
    )
    bad = (
        IMPORTS
        + """

class FooCUDA(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_x(self):
        pass


class Foo(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_x(self, device):
        pass


instantiate_device_type_tests(Foo, globals())
"""
    )
    good = bad.replace("class FooCUDA(", "class FooByHand(")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        if not context.settings.is_test_file(context.module.path):
            return
        classes = [
            c
            for c in context.suite.classes_in(context.module.path)
            if not any(b.keyword in ("def", "class") for b in c.facts.blocks)
        ]
        generated: dict[str, tuple[LinkedClass, str]] = {}
        for cls in classes:
            for call in cls.device_type_instantiations:
                yield from self._class_collisions(cls, call, classes, generated)
            if cls.is_instantiated:
                yield from self._test_collisions(cls)
                yield from self._doubled(cls)

    def _class_collisions(
        self,
        cls: LinkedClass,
        call: Instantiation,
        classes: list[LinkedClass],
        generated: dict[str, tuple[LinkedClass, str]],
    ) -> Iterator[Finding]:
        for name, device in generated_classes(cls):
            other = next((c for c in classes if c.name == name and _together(c, cls)), None)
            if other is not None and not other.is_instantiated:
                first, second = ("replaces", "above") if other.facts.line < call.line else ("is replaced by", "below")
                yield self._finding(
                    cls,
                    name,
                    f"generated class '{name}' {first} the class on line {other.facts.line} {second}: "
                    "one of the two loses its tests",
                    (Related(other.path, class_span(other.facts), f"the class '{name}'"),),
                )
            before = generated.setdefault(name, (cls, device))
            if before[0] is not cls and _together(before[0], cls):
                yield self._finding(
                    cls,
                    name,
                    f"generated class '{name}' replaces the one generated from '{before[0].name}'",
                    (Related(before[0].path, class_span(before[0].facts), f"'{before[0].name}' generates it too"),),
                )

    def _test_collisions(self, cls: LinkedClass) -> Iterator[Finding]:
        members = {f.name: f for f in cls.facts.methods}
        for device in cls.devices.devices:
            for function in cls.own_tests:
                for name in generated_names(function, device):
                    if name in members:
                        yield self._finding(
                            cls,
                            name,
                            f"'{function.name}' becomes '{name}' on {device}, which '{cls.name}' already has: "
                            "instantiating it raises at import",
                            (Related(cls.path, function_span(members[name]), f"'{name}' is defined here"),),
                        )

    def _doubled(self, cls: LinkedClass) -> Iterator[Finding]:
        """Names that say the device twice, one finding a class."""
        class_twice = [d for d in cls.devices.devices if cls.name.upper().endswith(d.upper())]
        tests = [f for f in cls.own_tests if any(f.name.endswith(f"_{device}") for device in cls.devices.devices)]
        if not class_twice and not tests:
            return
        device = class_twice[0] if class_twice else next(d for d in cls.devices.devices if tests[0].name.endswith(d))
        sample = next(iter(generated_names((tests or list(cls.own_tests))[0], device)), "") if cls.own_tests else ""
        yield Finding(
            code=self.code,
            path=cls.path,
            span=class_span(cls.facts),
            severity=Severity.WARNING if class_twice else Severity.INFO,
            message=f"generated names say the device twice: '{cls.name}{device.upper()}.{sample}'",
            symbol=cls.facts.qualname,
            detail="doubled",
            related=tuple(Related(cls.path, function_span(f), f"'{f.name}' ends in a device already") for f in tests),
        )

    def _finding(self, cls: LinkedClass, name: str, message: str, related: tuple[Related, ...]) -> Finding:
        return Finding(
            code=self.code,
            path=cls.path,
            span=class_span(cls.facts),
            severity=self.severity,
            message=message,
            symbol=cls.facts.qualname,
            detail=name,
            related=related,
        )


def _together(one: LinkedClass, other: LinkedClass) -> bool:
    """Whether both can exist in one run: not in two branches of the same ``if``."""
    for a, b in zip(one.facts.blocks, other.facts.blocks):
        if a.line == b.line and a.keyword != b.keyword:
            return False
    return True


RULES: tuple[type[Rule], ...] = (GeneratedNames,)
