"""HW603-HW608: classes that are instantiated in a way that fails, or never.

The mechanics are those of ``instantiate_device_type_tests`` in torch/testing/_internal/common_device_type.py
(torch 2.14.1).
"""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.findings import Finding, Fix, Related, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.collected import IMPORTS, collected_classes, listed, needs_device
from hwlint.scan.facts import Instantiation
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.devices import argument


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
    BothInstantiated,
    ParametrizedDevice,
    NameGone,
    NeverInstantiated,
    OnlyForNotLiteral,
    UnseenBase,
)
