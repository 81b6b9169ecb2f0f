"""HW601-HW608: tests lost, doubled or never made by the way a class is instantiated or inherited.

The mechanics are those of ``instantiate_device_type_tests`` in torch/testing/_internal/common_device_type.py (torch
2.14.1): it takes the class's name out of the module, copies the tests that stand in the class's own body, and deletes
them from the class.
"""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.findings import Finding, Fix, Related, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.spans import class_span, function_span
from hwlint.scan.facts import Function, Instantiation
from hwlint.suite.devices import argument
from hwlint.suite.ids import generated_classes, generated_names
from hwlint.suite.model import InheritedTest, LinkedClass

IMPORTS = """\
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import HardwareClassification, TestCase
"""
SHOWN = 5
"""Names listed in a message before the rest is counted."""


def listed(names: list[str]) -> str:
    """'a, b, c and 4 more'."""
    if len(names) <= SHOWN:
        return ", ".join(names)
    return ", ".join(names[:SHOWN]) + f" and {len(names) - SHOWN} more"


def collected_classes(context: RuleContext) -> Iterator[LinkedClass]:
    """Classes of the module that unittest may collect: not mixins, not those a function makes."""
    if context.settings.is_test_file(context.module.path):
        for cls in context.suite.classes_in(context.module.path):
            if cls.is_test_case is not False and not any(b.keyword in ("def", "class") for b in cls.facts.blocks):
                yield cls


def is_instantiated(cls: LinkedClass) -> bool:
    """By its own module or by one that imports it."""
    return cls.is_instantiated or any(i.kind == "device_type" for _, i in cls.foreign_instantiations)


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


def needs_device(function: Function) -> bool:
    """Whether calling it without ``device`` (or ``devices``) fails, and no decorator is there that might pass one."""
    taken = [p for p in ("device", "devices") if p in function.parameters and p not in function.defaulted]
    return bool(taken) and not function.decorators


def named(tests: list[InheritedTest]) -> str:
    return listed([t.function.name for t in tests])


def owners(tests: list[InheritedTest]) -> str:
    return listed(list(dict.fromkeys(f"{t.owner.name} ({t.owner.path}:{t.owner.facts.line})" for t in tests)))


def _them(tests: list[InheritedTest]) -> str:
    return "it" if len(tests) == 1 else "them"


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


class BothInstantiated(Rule):
    code = "HW603"
    name = "both-instantiate-functions"
    summary = "A class is given to both instantiate functions."
    why = (
        "`instantiate_device_type_tests` parametrizes by itself. `instantiate_parametrized_tests` before it wraps each "
        "test so that `device` no longer reaches it; after it the class's name is gone."
    )
    bad = (
        IMPORTS.replace("TestCase\n", "TestCase, instantiate_parametrized_tests, parametrize\n")
        + """

@instantiate_parametrized_tests
class SortTest(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    @parametrize("n", [1, 2])
    def test_stable(self, device, n):
        pass


instantiate_device_type_tests(SortTest, globals())
"""
    )
    good = bad.replace("@instantiate_parametrized_tests\n", "").replace("instantiate_parametrized_tests, ", "")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in context.suite.classes_in(context.module.path):
            if cls.is_instantiated and cls.is_parametrized:
                other = next(i for i in cls.instantiations if i.kind == "parametrized")
                first = min(cls.device_type_instantiations, key=lambda i: i.line)
                breaks = (other.form == "call" and other.line > first.line) or any(
                    "device" in f.parameters and any(d.name.rpartition(".")[2] == "parametrize" for d in f.decorators)
                    for f in cls.own_tests
                )
                yield Finding(
                    code=self.code,
                    path=cls.path,
                    span=other.span,
                    severity=self.severity if breaks else Severity.WARNING,
                    message=f"'{cls.name}' is given to instantiate_device_type_tests as well, "
                    "which parametrizes by itself",
                    symbol=cls.facts.qualname,
                    related=tuple(
                        Related(cls.path, i.span, "instantiated for device types here")
                        for i in cls.device_type_instantiations
                    ),
                    fix=Fix("remove instantiate_parametrized_tests"),
                )


class ParametrizedDevice(Rule):
    code = "HW604"
    name = "parametrized-device"
    summary = "A test of an instantiated class is parametrized over `device` as well."
    why = (
        "The instantiation passes `device` itself and overwrites the parameter: the variants run on one and the same "
        "device under names that say otherwise (pytorch/pytorch#190859, #192640, #100905)."
    )
    bad = (
        IMPORTS.replace("TestCase\n", "TestCase, parametrize\n")
        + """

class SortTest(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    @parametrize("device", ["cpu", "cuda"])
    def test_stable(self, device):
        pass


instantiate_device_type_tests(SortTest, globals())
"""
    )
    good = bad.replace('    @parametrize("device", ["cpu", "cuda"])\n', "")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in context.suite.classes_in(context.module.path):
            if not cls.is_instantiated:
                continue
            for function in cls.own_tests:
                for decorator in function.decorators:
                    first = decorator.arguments[0].value if decorator.arguments else None
                    if decorator.name.rpartition(".")[2] != "parametrize" or not isinstance(first, str):
                        continue
                    if "device" in [part.strip() for part in first.split(",")]:
                        yield Finding(
                            code=self.code,
                            path=cls.path,
                            span=decorator.span,
                            severity=self.severity,
                            message=f"'{cls.name}.{function.name}' is parametrized over `device`, "
                            "which its instantiation passes",
                            symbol=f"{cls.facts.qualname}.{function.name}",
                            fix=Fix("remove `device` from the parametrization"),
                        )


class NameGone(Rule):
    code = "HW605"
    name = "name-used-after-instantiation"
    summary = "The name of an instantiated class is read after the instantiation took it out of the module."
    why = (
        "`instantiate_device_type_tests` deletes the class's name from the module. `super(T, self)`, `T.helper()` or a "
        "subclass below the call raise NameError, those in a method only when it runs."
    )
    bad = (
        IMPORTS
        + """

class SortTest(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def setUp(self):
        super(SortTest, self).setUp()

    def test_stable(self, device):
        pass


instantiate_device_type_tests(SortTest, globals())
"""
    )
    good = bad.replace("super(SortTest, self)", "super()")
    fix_safety = "`super()` without arguments means the same inside a method of the class."

    def check(self, context: RuleContext) -> Iterator[Finding]:
        module = context.module
        calls: dict[str, Instantiation] = {}
        for one in module.instantiations:
            if one.kind == "device_type" and one.target and one.scope_is_globals:
                calls.setdefault(one.target, one)
        rebound = {name for name, _ in module.imports} | {c.name for c in module.constants}
        for use in module.name_uses:
            call = calls.get(use.name)
            if call is None or use.name in rebound:
                continue
            if use.deferred and not _runs_later(use.owner, context):
                continue
            defined = [c for c in module.classes if c.name == use.name]
            if not defined or any(c.line > call.line for c in defined) or (call.blocks and not use.deferred):
                continue
            where = f"in {use.owner}" if use.owner else "at module level"
            yield Finding(
                code=self.code,
                path=module.path,
                span=use.span,
                severity=self.severity,
                message=f"'{use.name}' is read {where}, but line {call.line} takes the name out of the module",
                symbol=use.owner,
                detail=use.name,
                related=(Related(module.path, call.span, "the name is gone from here on"),),
            )


def _runs_later(owner: str, context: RuleContext) -> bool:
    """Whether a function is called once the module is there: a method, or a function that a method names.

    A function that only the module itself calls, above the instantiation, still finds the class.
    """
    if "." in owner:
        return True
    return any(owner in f.references for c in context.module.classes for f in c.methods)


class NeverInstantiated(Rule):
    code = "HW606"
    name = "never-instantiated"
    summary = "Tests take `device`, but their class is never instantiated."
    why = "Nothing passes `device`, so each of these tests fails with a TypeError when it is run."
    bad = """\
from torch.testing._internal.common_utils import TestCase


class SortTest(TestCase):
    def test_stable(self, device):
        pass
"""
    good = (
        IMPORTS
        + bad.partition("\n")[2].replace(
            "    def test", "    hw_classification = HardwareClassification.ACCELERATOR\n\n    def test"
        )
        + "\n\ninstantiate_device_type_tests(SortTest, globals())\n"
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in collected_classes(context):
            if cls.instantiations or cls.foreign_instantiations or cls.facts.dynamic or cls.facts.decorators:
                continue
            if cls.is_test_case is not True or cls.label not in ("", "GENERIC") or cls.opaque_bases:
                continue
            if any(i.target == "" for i in cls.module.instantiations) or cls.subclasses():
                continue
            tests = [f for f in cls.own_tests if needs_device(f) and "alias" not in f.flags]
            if tests:
                yield Finding(
                    code=self.code,
                    path=cls.path,
                    span=class_span(cls.facts),
                    severity=self.severity,
                    message=f"'{cls.name}' is never instantiated, so nothing passes `device` to "
                    f"{listed([f.name for f in tests])}",
                    symbol=cls.facts.qualname,
                    related=tuple(Related(cls.path, function_span(f), f"'{f.name}' takes device") for f in tests),
                    fix=Fix(f"add `instantiate_device_type_tests({cls.name}, globals())` below the class"),
                )


class OnlyForNotLiteral(Rule):
    code = "HW607"
    name = "only-for-not-literal"
    severity = Severity.WARNING
    summary = "`only_for` or `except_for` is no literal."
    why = (
        "A static reader has to see for which devices a class is made; upstream's linter takes a literal string, list "
        "or tuple of them and counts all else as unknown (pytorch/pytorch#190173, #192182)."
    )
    bad = (
        IMPORTS
        + """

DEVICES = ("cpu", "cuda")


class SortTest(TestCase):
    hw_classification = HardwareClassification.CUDA

    def test_stable(self, device):
        pass


instantiate_device_type_tests(SortTest, globals(), only_for=DEVICES)
"""
    )
    good = bad.replace('DEVICES = ("cpu", "cuda")\n\n\n', "").replace("DEVICES", '"cuda"')

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for call in context.module.instantiations:
            if call.kind != "device_type":
                continue
            for name in ("only_for", "except_for"):
                given = argument(call, name)
                if given is None or given.literal:
                    continue
                value = repr(given.value) if given.known else "unknown to a static reader"
                yield Finding(
                    code=self.code,
                    path=context.module.path,
                    span=call.span,
                    severity=self.severity,
                    message=f"{name}={given.text} is no literal ({value})",
                    symbol=call.target,
                    detail=name,
                    fix=Fix(f"write {name}={given.value!r}") if given.known else None,
                )


class UnseenBase(Rule):
    code = "HW608"
    name = "base-unseen-by-loader"
    severity = Severity.WARNING
    summary = "A test class does not derive from torch.testing._internal.common_utils.TestCase."
    why = (
        "`run_tests()` refuses a class that does not (lint_test_case_extension in common_utils.py), and "
        "`unittest.main()` knows no `--hw-classification`: either way the classification selects nothing "
        "(pytorch/pytorch#193093, #193081)."
    )
    bad = """\
import unittest
from torch.testing._internal.common_utils import HardwareClassification


class TimerTest(unittest.TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_start(self):
        pass
"""
    good = """\
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class TimerTest(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_start(self):
        pass
"""

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in collected_classes(context):
            if not cls.is_test_class or cls.is_test_case is not True or cls.loader_sees is not False:
                continue
            bases = listed(list(dict.fromkeys(f.name for f in cls.framework_bases if f.kind != "mixin")))
            yield Finding(
                code=self.code,
                path=cls.path,
                span=class_span(cls.facts),
                severity=self.severity,
                message=f"'{cls.name}' derives from {bases}, so `--hw-classification` will not select its tests",
                symbol=cls.facts.qualname,
                fix=Fix("derive it from torch.testing._internal.common_utils.TestCase and run it with run_tests()"),
            )


RULES: tuple[type[Rule], ...] = (
    InheritedTestsLost,
    GeneratedNames,
    BothInstantiated,
    ParametrizedDevice,
    NameGone,
    NeverInstantiated,
    OnlyForNotLiteral,
    UnseenBase,
)
