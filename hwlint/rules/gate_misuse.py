"""HW504-HW506: gates that take tests away or break the import."""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.catalog import ANY_ACCELERATOR, Catalog
from hwlint.findings import Finding, Fix, Related, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.home import is_binding, is_home
from hwlint.rules.placed import short
from hwlint.scan.facts import Gate, Span
from hwlint.scan.spans import class_span
from hwlint.suite.model import LinkedClass


class ClassWideOnly(Rule):
    code = "HW504"
    name = "method-decorator-on-class"
    summary = "onlyAccelerator or its like on a class"
    why = (
        "onlyAccelerator, onlyCUDA and onlyOn wrap a test method and return a function: on a class they leave a "
        "function under its name, and all of its tests are gone without a word "
        "(torch/testing/_internal/common_device_type.py; pytorch/pytorch#182288, #182295)."
    )
    bad = """\
import torch
from torch.testing._internal.common_device_type import onlyAccelerator
from torch.testing._internal.common_utils import TestCase


@onlyAccelerator
class CosTest(TestCase):
    def test_cos(self, device):
        torch.ones(2, device=device).cos()
"""
    good = bad.replace(
        "@onlyAccelerator\nclass CosTest(TestCase):\n", "class CosTest(TestCase):\n    @onlyAccelerator\n"
    )
    references = ("pytorch/pytorch#182288", "pytorch/pytorch#182295")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in context.suite.classes_in(context.module.path):
            for decorator in cls.facts.decorators:
                entry = context.catalog.find_decorator(decorator.qualified)
                if entry is None or entry.role != "whitelist" or not entry.device_aware:
                    continue
                fix = Fix(f"put @{decorator.name} on each test, outermost", "shown")
                yield Finding(
                    code=self.code,
                    path=context.module.path,
                    span=decorator.span,
                    severity=Severity.ERROR,
                    message=f"@{decorator.name} on the class {cls.facts.qualname} replaces it by a function, and its "
                    f"tests are lost; {fix.message}",
                    symbol=cls.facts.qualname,
                    detail=decorator.name.rpartition(".")[2],
                    role="gate",
                    fix=fix,
                )


class LazyCondition(Rule):
    code = "HW505"
    name = "serial-test-with-lazy-flag"
    summary = "`serialTest` with a flag that is no bool"
    why = (
        "serialTest raises at import where its condition is of any type but bool, and TEST_ACCELERATOR and its "
        "like are LazyVal objects (torch/testing/_internal/common_utils.py)."
    )
    bad = """\
import torch
from torch.testing._internal.common_utils import TEST_ACCELERATOR, TestCase, serialTest


class BigTest(TestCase):
    @serialTest(TEST_ACCELERATOR)
    def test_big(self):
        torch.ones(2)
"""
    good = bad.replace("serialTest(TEST_ACCELERATOR)", "serialTest(bool(TEST_ACCELERATOR))")
    fix_safety = "Safe: the module cannot be imported without it."
    references = ("pytorch/pytorch#181833",)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        imports = dict(context.module.imports)
        for cls in context.suite.classes_in(context.module.path):
            for function in cls.facts.methods:
                for decorator in function.decorators:
                    entry = context.catalog.find_decorator(decorator.qualified)
                    if entry is None or not entry.needs_bool or not decorator.arguments:
                        continue
                    condition = decorator.arguments[0]
                    head, dot, rest = condition.text.partition(".")
                    flag = context.catalog.find_flag(imports.get(head, head) + dot + rest)
                    if flag is None or not flag.lazy or flag.callable:
                        continue
                    text = f"{decorator.name}(bool({condition.text}))"
                    one_line = decorator.span.line == decorator.span.end_line and len(decorator.arguments) == 1
                    fix = Fix(
                        f"write @{text}",
                        "safe" if one_line else "shown",
                        text if one_line else None,
                        decorator.span if one_line else None,
                    )
                    symbol = f"{cls.facts.qualname}.{function.name}"
                    yield Finding(
                        code=self.code,
                        path=context.module.path,
                        span=decorator.span,
                        severity=Severity.ERROR,
                        message=f"{condition.text} is evaluated lazily and no bool: @{decorator.name} at {symbol} "
                        f"raises at import; {fix.message}",
                        symbol=symbol,
                        detail=condition.text,
                        role="gate",
                        fix=fix,
                    )


class ImportTimeGate(Rule):
    code = "HW506"
    name = "import-time-gate"
    severity = Severity.WARNING
    summary = "A gate that keeps classes or the whole file away when it is imported"
    why = (
        "What a gate at import leaves out is not collected: no skip shows, sys.exit ends pytest's collection, and "
        "upstream's linter does not look into the block (pytorch/pytorch#192972, #192424, #189698). "
        "Collected always, each test says itself what it needs."
    )
    bad = """\
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase

if TEST_CUDA:

    class ExpTest(TestCase):
        def test_exp(self):
            torch.ones(1).exp()
"""
    good = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_utils import TestCase


class ExpTest(TestCase):
    @onlyAccelerator
    def test_exp(self, device):
        torch.ones(1, device=device).exp()


instantiate_device_type_tests(ExpTest, globals())
"""
    references = ("pytorch/pytorch#192972", "pytorch/pytorch#192424", "pytorch/pytorch#189698")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        yield from self._blocks(context)
        tests = context.suite.test_classes_in(context.module.path)
        main = context.module.main
        for gate in context.module.gates:
            asked = device_requirement(gate, context.catalog)
            if not gate.blocking or (asked is None and gate.form != "module_exit"):
                continue
            if asked is not None and tests and all(is_home(c, asked, context.catalog) for c in tests):
                continue
            in_main = main is not None and main[:2] <= gate.span[:2] <= main[2:]
            ends = gate.form in ("module_exit", "raise_skip") and not in_main
            says = "ends the import of the file" if ends else "decides whether the file's tests are run at all"
            fix = Fix("let each test say what it needs, so that the skip is seen", "shown")
            yield Finding(
                code=self.code,
                path=context.module.path,
                span=gate.span,
                severity=Severity.WARNING if asked is not None else Severity.INFO,
                message=f"{short(gate.name)} {says}; {fix.message}",
                symbol="",
                detail=gate.name[:120],
                role="gate",
                fix=fix,
            )

    def _blocks(self, context: RuleContext) -> Iterator[Finding]:
        found: dict[Span, list[LinkedClass]] = {}
        gates: dict[Span, Gate] = {}
        for cls in context.suite.classes_in(context.module.path):
            for gate in cls.facts.gates:
                if gate.form == "if_class":
                    found.setdefault(gate.span, []).append(cls)
                    gates[gate.span] = gate
        for span, classes in found.items():
            asked = device_requirement(gates[span], context.catalog)
            away = [
                c for c in classes if c.is_test_class and asked is not None and not is_home(c, asked, context.catalog)
            ]
            if not away:
                continue
            fix = Fix("define the class always, and let each test say what it needs", "shown")
            names = ", ".join(c.facts.qualname for c in away[:3]) + (" and others" if len(away) > 3 else "")
            verb = f"{names} exist{'s' if len(away) == 1 else ''}"
            yield Finding(
                code=self.code,
                path=context.module.path,
                span=span,
                severity=Severity.WARNING,
                message=f"{verb} only where `{short(gates[span].name)}` holds at import; {fix.message}",
                symbol=away[0].facts.qualname,
                detail=gates[span].name[:120],
                role="gate",
                related=tuple(Related(context.module.path, class_span(c.facts), "and this class") for c in away[1:]),
                fix=fix,
            )


def device_requirement(gate: Gate, catalog: Catalog) -> str | None:
    """The device that an import-time gate asks for: a type, or any accelerator."""
    if gate.combine in ("any", "mixed"):
        return None
    for requirement in gate.requirements:
        if requirement.absent:
            continue
        if requirement.kind == "accelerator":
            return ANY_ACCELERATOR
        if requirement.kind == "device" and is_binding(requirement.value, catalog):
            return requirement.value
    return None
