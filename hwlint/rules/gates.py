"""HW501-HW506: skip decorators and gates that ask for one device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hwlint.catalog import ANY_ACCELERATOR, Catalog
from hwlint.catalog import Decorator as DecoratorEntry
from hwlint.findings import Applicability, Finding, Fix, Related, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.bodies import newer_than
from hwlint.rules.gate_misuse import ClassWideOnly, ImportTimeGate, LazyCondition
from hwlint.rules.home import is_binding, is_generic, is_home, kept_devices
from hwlint.rules.placed import Placed, placed_gates, short
from hwlint.scan.facts import Decorator, Function, Gate, Requirement
from hwlint.suite.model import LinkedClass

GENERIC_DECORATOR = "onlyAccelerator"


def asked_device(gate: Gate, catalog: Catalog) -> Requirement | None:
    """The first requirement of a gate that names one device type."""
    return next(
        (r for r in gate.requirements if r.kind == "device" and not r.absent and is_binding(r.value, catalog)), None
    )


def also_asked(gate: Gate) -> dict[str, str]:
    """What one flag asks for beside the device: kind of requirement -> what."""
    return {r.kind: r.value for r in gate.requirements if r.kind not in ("device", "accelerator") and not r.absent}


def restricted_to(decorator: Decorator, entry: DecoratorEntry) -> tuple[str, ...]:
    """The devices that a whitelist decorator lets through; () where they cannot be read."""
    if entry.devices or not decorator.arguments:
        return entry.devices
    value = decorator.arguments[0].value
    if isinstance(value, str):
        return (value,)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, tuple) else ()


def generic_decorator(context: RuleContext, decorator: Decorator, runs_generic: bool, widens: bool = True) -> Fix:
    """``@onlyAccelerator`` in the place of ``decorator``."""
    since = context.catalog.decorators[GENERIC_DECORATOR].since
    if newer_than(since, context):
        say = f"@{GENERIC_DECORATOR} is the device-generic form from torch {since} on, newer than the torch"
        return Fix(f"{say} {context.settings.torch} set", "none")
    prefix = decorator.name.rpartition(".")[0]
    imported = dict(context.module.imports)
    module = "torch.testing._internal.common_device_type"
    text = GENERIC_DECORATOR
    if prefix and imported.get(prefix, prefix) == module:
        text = f"{prefix}.{GENERIC_DECORATOR}"
    reachable = text != GENERIC_DECORATOR or GENERIC_DECORATOR in imported or module in context.module.star_imports
    say = f"write @{text} instead"
    if not runs_generic:
        return Fix(
            f"{say}, with the class instantiated by instantiate_device_type_tests", "shown", text, decorator.span
        )
    applicability: Applicability = "unsafe" if widens else "safe"
    return Fix(say, applicability if reachable else "shown", text, decorator.span)


class OneDeviceDecorator(Rule):
    code = "HW501"
    name = "one-device-decorator"
    severity = Severity.WARNING
    summary = "`@onlyCUDA` and its like: a test of a device-generic class for one device"
    why = (
        "@onlyCUDA keeps every other accelerator out of a test that may well hold there; @onlyAccelerator only "
        "leaves out the CPU (pytorch/pytorch#191342, #196443). Keep @onlyCUDA where the claim is about CUDA: NaN, "
        "rounding, determinism, precision, kernel names."
    )
    bad = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA
from torch.testing._internal.common_utils import TestCase


class FillTest(TestCase):
    @onlyCUDA
    def test_fill(self, device):
        self.assertEqual(torch.full((2,), 1.0, device=device).sum(), 2)


instantiate_device_type_tests(FillTest, globals())
"""
    good = bad.replace("onlyCUDA", "onlyAccelerator")
    fix_safety = "Unsafe: more devices run the test afterwards."
    references = ("pytorch/pytorch#191342", "pytorch/pytorch#196443")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in context.suite.classes_in(context.module.path):
            for function in cls.facts.methods:
                for decorator in function.decorators:
                    entry = context.catalog.find_decorator(decorator.qualified)
                    if entry is not None and entry.role == "whitelist":
                        yield from self._judge(context, cls, function, decorator, entry)

    def _judge(
        self, context: RuleContext, cls: LinkedClass, function: Function, decorator: Decorator, entry: DecoratorEntry
    ) -> Iterator[Finding]:
        devices = restricted_to(decorator, entry)
        only_cpu = devices == ("cpu",)
        binding = [d for d in devices if is_binding(d, context.catalog)]
        if ANY_ACCELERATOR in devices or not (only_cpu or binding) or (binding and "cpu" in devices):
            return
        runners = [c for c in (cls, *cls.subclasses()) if c.is_test_class]
        if all(any(is_home(c, d, context.catalog) for d in devices) for c in runners):
            return
        tag = cls.facts.tag
        if tag is not None and tag.label == "ACCELERATOR":
            return  # upstream's own contract reports it there (HW105)
        symbol = f"{cls.facts.qualname}.{function.name}"
        kept = bool(kept_devices(cls, function) & set(devices))
        severity = Severity.INFO if kept or only_cpu else Severity.WARNING
        names = " and ".join(devices)
        message = f"@{decorator.name} lets {symbol} run on {names} only"
        fix: Fix | None = None
        if kept:
            message += f", and a vendor-only API needs {names}; a class for {names} is its place"
        elif only_cpu:
            message += "; if the claim is about the CPU a CPU class is its place, else drop the decorator"
        else:
            fix = generic_decorator(context, decorator, cls.is_instantiated)
            message += f"; where the claim is not about {names}, {fix.message}"
        yield Finding(
            code=self.code,
            path=context.module.path,
            span=decorator.span,
            severity=severity,
            message=message,
            symbol=symbol,
            detail=decorator.name.rpartition(".")[2],
            role="gate",
            fix=fix,
        )


class GateRule(Rule):
    """What HW502 and HW503 share: a gate that asks the host for one device."""

    def _finding(
        self, context: RuleContext, placed: Placed, severity: Severity, message: str, fix: Fix | None
    ) -> Finding:
        gate = placed.gate
        if gate.combine:
            fix = None
            how = {"all": "all of", "any": "any of"}.get(gate.combine, "a mix of")
            message += f"; it is compound ({how} {len(gate.requirements)} conditions), so each part has to be judged"
        elif fix is not None:
            message += f"; {fix.message}"
        return Finding(
            code=self.code,
            path=context.module.path,
            span=gate.span,
            severity=severity,
            message=message,
            symbol=placed.symbol,
            detail=gate.name[:120],
            role="gate",
            fix=fix,
        )


class AvailabilityGate(GateRule):
    code = "HW502"
    name = "availability-gate"
    severity = Severity.WARNING
    summary = "A skip or guard that asks whether one device is there"
    why = (
        "A gate on TEST_CUDA or torch.cuda.is_available() keeps a test from every other accelerator, and where "
        "the literals in the body are replaced but the gate is not, the test stays bound to CUDA behind its tag "
        "(pytorch/pytorch#191077, #192712, #190933)."
    )
    bad = """\
import unittest

import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class PowTest(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_pow(self):
        torch.ones(2).pow(2)
"""
    good = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_utils import TestCase


class PowTest(TestCase):
    @onlyAccelerator
    def test_pow(self, device):
        torch.ones(2, device=device).pow(2)


instantiate_device_type_tests(PowTest, globals())
"""
    fix_safety = "Unsafe or shown: more devices run the test afterwards, and the class has to be instantiated."
    references = ("pytorch/pytorch#191077", "pytorch/pytorch#192712", "pytorch/pytorch#190933")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        seen: dict[tuple[str, str, bool], list[tuple[Placed, Requirement]]] = {}
        for placed in placed_gates(context):
            asked = asked_device(placed.gate, context.catalog)
            if asked is None or is_device_aware(placed) or is_global_skip(placed) or asks_collective(placed, context):
                continue
            if compares_device(placed) or "platform" in also_asked(placed.gate):
                continue  # HW205 reports the comparison; ROCm is a build of the same device
            if placed.classes and all(is_home(c, asked.value, context.catalog) for c in placed.classes):
                continue
            # The same question asked again in one function is one cause.
            again = seen.setdefault((placed.symbol, placed.gate.name, placed.gate.blocking), [])
            again.append((placed, asked))
        for places in seen.values():
            first = self._judge(context, *places[0])
            path = context.module.path
            yield replace(first, related=tuple(Related(path, p.gate.span, "asked again") for p, _ in places[1:]))

    def _judge(self, context: RuleContext, placed: Placed, asked: Requirement) -> Finding:
        gate, function = placed.gate, placed.function
        where = f"at {placed.symbol}" if function is None or gate.form == "decorator" else f"in {placed.symbol}"
        said = f"{short(gate.name)} {where}"
        also = also_asked(gate) if not gate.combine else {}
        severity = Severity.WARNING if gate.blocking and placed.classes else Severity.INFO
        if placed.owner is not None and function is not None and function.kind == "test":
            if asked.value in kept_devices(placed.owner, function):
                severity = Severity.INFO
        fix: Fix | None
        if gate.combine in ("any", "mixed"):
            severity, fix = Severity.INFO, None
            message = f"{said} asks for {asked.value} among other things"
        elif not gate.blocking:
            message = f"{said} leaves part of the test to {asked.value}"
            fix = Fix("ask the device under test instead of the host", "shown")
        elif "capability" in also or also.get("library", "triton") != "triton":
            severity = Severity.INFO
            what = also.get("capability") or also["library"]
            message = f"{said} asks for {what} of {asked.value}"
            fix = Fix("keep it as a targeted skip, and leave the other devices to it", "none")
        elif "count" in also:
            message = f"{said} asks for {also['count']} devices of {asked.value}"
            fix = Fix(f"@deviceCountAtLeast({also['count']}) in an instantiated class asks the variant", "shown")
        else:
            message = f"{said} lets nothing run without {asked.value}"
            if gate.form == "decorator" and placed.decorator is not None:
                runs = placed.owner is not None and placed.owner.is_instantiated
                fix = generic_decorator(context, placed.decorator, runs)
            else:
                fix = Fix(
                    f"@{GENERIC_DECORATOR} on the tests of an instantiated class says it for every device", "shown"
                )
            if "library" in also:
                message += f" and {also['library']}"
        return self._finding(context, placed, severity, message, fix)


def compares_device(placed: Placed) -> bool:
    """Whether the condition compares the device under test: it asks the variant, not the host."""
    uses = placed.function.uses if placed.function is not None else ()
    start, end = placed.gate.span[:2], placed.gate.span[2:]
    return any(u.role == "comparison" and start <= u.span[:2] <= end for u in uses)


def is_device_aware(placed: Placed) -> bool:
    """A decorator that looks at the variant: HW501's where it lets one device through, right where it takes one out."""
    entry = placed.entry
    return entry is not None and (entry.device_aware or entry.role in ("whitelist", "blacklist"))


def is_global_skip(placed: Placed) -> bool:
    """A decorator that asks the host, on a test of a class that is made once per device: HW503's."""
    return (
        placed.gate.form == "decorator"
        and placed.decorator is not None
        and (placed.entry is None or not placed.entry.device_aware)
        and placed.owner is not None
        and placed.owner.is_instantiated
        and is_generic(placed.owner)
    )


def asks_collective(placed: Placed, context: RuleContext) -> bool:
    """A gate for a collective library is HW703's."""
    return any(r.kind == "library" and _vendor(r.value, context.catalog) for r in placed.gate.requirements)


def _vendor(library: str, catalog: Catalog) -> str:
    collective = catalog.collectives.get(library)
    return collective.vendor if collective is not None else ""


class GlobalSkip(GateRule):
    code = "HW503"
    name = "global-skip"
    severity = Severity.WARNING
    summary = "A skip in a device-generic class that asks the host instead of the device under test"
    why = (
        "A global flag is true of the host: skipIf(TEST_XPU) skips the CPU variant as well wherever there is an "
        "XPU, and skipIf(not TEST_CUDA) keeps the XPU variant from ever running (pytorch/pytorch#191456, #198166). "
        "The device-aware decorators ask the variant."
    )
    bad = """\
import unittest

import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TEST_XPU, TestCase


class SqrtTest(TestCase):
    @unittest.skipIf(TEST_XPU, "gap")
    def test_sqrt(self, device):
        torch.ones(2, device=device).sqrt()


instantiate_device_type_tests(SqrtTest, globals(), allow_xpu=True)
"""
    good = bad.replace("instantiate_device_type_tests\n", "instantiate_device_type_tests, skipXPUIf\n", 1).replace(
        '@unittest.skipIf(TEST_XPU, "gap")', '@skipXPUIf(True, "gap")'
    )
    fix_safety = "Unsafe: other variants run the test afterwards."
    references = ("pytorch/pytorch#191456", "pytorch/pytorch#198166", "pytorch/pytorch#195452")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for placed in placed_gates(context):
            if not is_global_skip(placed) or asks_collective(placed, context):
                continue
            gate, catalog = placed.gate, context.catalog
            asked = asked_device(gate, catalog)
            absent = next((r for r in gate.requirements if r.kind == "device" and r.absent), None)
            also = also_asked(gate)
            said = f"{short(gate.name)} at {placed.symbol}"
            if "platform" in also or (placed.entry is not None and placed.entry.role in ("count", "resource")):
                continue  # ROCm is a build of one device; skip_if_lt_x_gpu counts whatever accelerator there is
            severity = Severity.WARNING
            if asked is not None and placed.function is not None and placed.owner is not None:
                if asked.value in kept_devices(placed.owner, placed.function):
                    severity = Severity.INFO
            if asked is not None and gate.combine in ("any", "mixed"):
                severity = Severity.INFO
                message = f"{said} asks the host for {asked.value} among other things"
            elif asked is not None and ("capability" in also or also.get("library", "triton") != "triton"):
                severity = Severity.INFO
                message = f"{said} asks the host for {also.get('capability') or also.get('library')} of {asked.value}"
            elif asked is not None and "count" in also:
                message = f"{said} counts the {asked.value} devices of the host, not those of the variant"
            elif asked is not None:
                message = f"{said} asks the host for {asked.value}, so no variant for another accelerator runs"
            elif absent is not None and is_binding(absent.value, catalog) and gate.combine in ("", "any"):
                message = f"{said} skips every variant on a host with {absent.value}"
            else:
                continue
            yield self._finding(context, placed, severity, message, self._fix(context, placed, asked))

    def _fix(self, context: RuleContext, placed: Placed, asked: Requirement | None) -> Fix | None:
        decorator = placed.decorator
        assert decorator is not None
        source, form, reason = skip_parts(decorator)
        if asked is not None and also_asked(placed.gate).keys() <= {"library"} and form != "skipUnless":
            return generic_decorator(context, decorator, True)
        for entry in context.catalog.skip_replacements:
            if entry.source == source and entry.form == form:
                if newer_than(entry.since, context):
                    say = (
                        f"@{entry.decorator} is the device-aware form from torch {entry.since} on, newer than the torch"
                    )
                    return Fix(f"{say} {context.settings.torch} set", "none")
                if "{reason}" in entry.replacement and not reason:
                    return Fix(f"write @{entry.decorator} instead", "shown")
                text = entry.replacement.replace("{reason}", reason)
                say = f"write @{text} instead"
                if entry.parameter:
                    say += f", and take {entry.parameter} in the place of device"
                imported = entry.decorator in dict(context.module.imports)
                plain = imported and not entry.parameter and decorator.span.line == decorator.span.end_line
                return Fix(say, "unsafe" if plain else "shown", text, decorator.span)
        return None


def skip_parts(decorator: Decorator) -> tuple[str, str, str]:
    """What a skip asks, in the catalog's terms: the flag or decorator, its form, and the source of its reason."""
    name = decorator.qualified.rpartition(".")[2]
    arguments = decorator.arguments
    if name not in ("skipIf", "skipUnless") or not arguments:
        return name, "decorator", arguments[0].text if arguments and arguments[0].name in ("", "msg", "reason") else ""
    condition = arguments[0].text
    flag = condition.removeprefix("not ")
    runs_with_it = (name == "skipUnless") != (flag != condition)
    reason = arguments[1].text if len(arguments) > 1 else ""
    return flag.rpartition(".")[2], "skipUnless" if runs_with_it else "skipIf", reason


RULES: tuple[type[Rule], ...] = (
    OneDeviceDecorator,
    AvailabilityGate,
    GlobalSkip,
    ClassWideOnly,
    LazyCondition,
    ImportTimeGate,
)
