"""HW601: tests lost by inheritance and instantiation together.

``instantiate_device_type_tests`` (torch/testing/_internal/common_device_type.py, torch 2.14.1) takes the class's name
out of the module, copies the tests that stand in the class's own body, and deletes them from the class.
"""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.findings import Finding, Fix, Related, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.collected import IMPORTS, collected_classes, is_instantiated, listed, needs_device
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.model import InheritedTest, LinkedClass


class InheritedTestsLost(Rule):
    code = "HW601"
    name = "inherited-tests-lost"
    summary = "A class inherits tests that its instantiation does not make, or that the base's instantiation took away."
    why = (
        "Only tests in the class's own body are instantiated, and instantiating a base deletes its tests from it. A "
        "subclass is then collected without them, and neither unittest nor pytest says a word (pytorch/pytorch#192961, "
        "#193304, #191080). A base that is not instantiated keeps its tests, but a test that takes `device` then fails "
        "in the subclass because nothing passes one."
    )
    bad = (
        IMPORTS
        + """

class Base(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_a(self, device):
        pass


class WithFlag(Base):
    flag = True


instantiate_device_type_tests(Base, globals())
instantiate_device_type_tests(WithFlag, globals())
"""
    )
    good = (
        IMPORTS
        + """

class Common:
    def check(self, device):
        pass


class Plain(Common, TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_a(self, device):
        self.check(device)


class WithFlag(Common, TestCase):
    hw_classification = HardwareClassification.ACCELERATOR
    flag = True

    def test_a(self, device):
        self.check(device)


instantiate_device_type_tests(Plain, globals())
instantiate_device_type_tests(WithFlag, globals())
"""
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in collected_classes(context):
            lost = [t for t in cls.inherited_tests if is_instantiated(t.owner)]
            if lost:
                yield self._lost(cls, lost)
            if is_instantiated(cls):
                stray = [t for t in cls.inherited_tests if not is_instantiated(t.owner)]
                failing = [t for t in stray if needs_device(t.function)]
                plain = [t for t in stray if not needs_device(t.function) and not t.function.decorators]
                if failing:
                    yield self._failing(cls, failing)
                if plain:
                    yield self._repeated(cls, plain)

    def _lost(self, cls: LinkedClass, tests: list[InheritedTest]) -> Finding:
        how = "instantiates its own tests only" if is_instantiated(cls) else "is not instantiated"
        return self._finding(
            cls,
            tests,
            "lost",
            f"'{cls.name}' {how}; {named(tests)} of {owners(tests)} "
            f"{'is' if len(tests) == 1 else 'are'} lost: instantiating the base deleted {_them(tests)}",
            Severity.ERROR,
            "put the shared code in a base without tests, or write the tests out in this class",
        )

    def _failing(self, cls: LinkedClass, tests: list[InheritedTest]) -> Finding:
        return self._finding(
            cls,
            tests,
            "device",
            f"'{cls.name}' inherits {named(tests)} of {owners(tests)}, which its instantiation "
            f"does not make: {'it' if len(tests) == 1 else 'they'} will run without `device` and fail",
            Severity.ERROR,
            "write the tests out in this class, or have the base instantiated and this one not derive from it",
        )

    def _repeated(self, cls: LinkedClass, tests: list[InheritedTest]) -> Finding:
        return self._finding(
            cls,
            tests,
            "repeated",
            f"'{cls.name}' inherits {named(tests)} of {owners(tests)}: the same test runs once "
            "for each device type, under a name without the device",
            Severity.INFO,
            "",
        )

    def _finding(
        self, cls: LinkedClass, tests: list[InheritedTest], kind: str, message: str, severity: Severity, advice: str
    ) -> Finding:
        return Finding(
            code=self.code,
            path=cls.path,
            span=class_span(cls.facts),
            severity=severity,
            message=message,
            symbol=cls.facts.qualname,
            detail=kind,
            related=tuple(
                Related(t.owner.path, function_span(t.function), f"{t.owner.name}.{t.function.name} is defined here")
                for t in tests
            ),
            fix=Fix(advice) if advice else None,
        )


def named(tests: list[InheritedTest]) -> str:
    return listed([t.function.name for t in tests])


def owners(tests: list[InheritedTest]) -> str:
    return listed(list(dict.fromkeys(f"{t.owner.name} ({t.owner.path}:{t.owner.facts.line})" for t in tests)))


def _them(tests: list[InheritedTest]) -> str:
    return "it" if len(tests) == 1 else "them"


RULES: tuple[type[Rule], ...] = (InheritedTestsLost,)
