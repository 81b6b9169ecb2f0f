"""HW108: a classification that the code contradicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hwlint.catalog import SETTINGS_PREFIXES, Catalog
from hwlint.findings import Finding, Fix, Related, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.bodies import device_words, shown
from hwlint.rules.devices import SPECS, is_default
from hwlint.rules.gates import restricted_to
from hwlint.rules.home import device_type, gate_devices, home_device, is_binding, vendor_device
from hwlint.scan.facts import DeviceUse, Function, Requirement, Span
from hwlint.scan.spans import class_span
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import Reach, ReachedUse, all_tests, class_reach, reach

SHOWN = 3
"""Reasons that a finding gives."""
PORTABLE = ("same", "renamed")
QUESTIONS = ("is_available", "device_count", "is_initialized", "is_bf16_supported", "init")


@dataclass(frozen=True, slots=True)
class Reason:
    """One place that speaks against the classification; the heavier, the earlier it is told."""

    weight: int
    message: str
    path: str
    span: Span


def contradictions(cls: LinkedClass) -> tuple[Reason, ...]:
    """Why the effective classification of ``cls`` cannot be right, strongest reason first; () where it may be.

    Only what is sure counts: a placement in eager code, a vendor-only API, a gate that lets nothing else pass.
    """
    label = cls.label
    if label in ("GENERIC", "CPU"):
        found = _reaches_accelerator(cls)
    elif label == "ACCELERATOR":
        found = _bound_to_one(cls)
    elif label:
        found = _only_places(cls)
    else:
        found = []
    return tuple(sorted(found, key=lambda r: -r.weight))


def _reaches_accelerator(cls: LinkedClass) -> list[Reason]:
    catalog = cls.suite.catalog
    found = class_reach(cls)
    optional = _optional_parts(found)
    reasons = []
    for reached in found.uses:
        if _drives(reached.use, catalog):
            weight, message = _weight(reached.use, catalog)
            if _is_optional(reached, optional):
                weight, message = 2, f"{message} where there is one"
            reasons.append(Reason(weight, message, reached.path, reached.use.span))
    for gate in found.gates:
        # A gate in a helper may guard a part that this class never asks for.
        if gate.scope in ("test", "class", "setup"):
            for device in gate_devices(gate.gate):
                if is_binding(device, catalog) and gate.gate.form in ("decorator", "class_decorator"):
                    reasons.append(Reason(2, f"the gate {gate.gate.name[:60]}", gate.path, gate.gate.span))
    return _once(reasons)


Parts = dict[tuple[str, str], dict[str, int]]
"""Path and symbol of a function -> device that it asks for and goes on without -> the line of the question."""


def _optional_parts(found: Reach) -> Parts:
    parts: Parts = {}
    for reached in found.functions:
        for gate in reached.function.gates:
            if not gate.blocking and gate.combine in ("", "all"):
                for requirement in gate.requirements:
                    if requirement.kind == "device" and not requirement.absent:
                        asked = parts.setdefault((reached.path, reached.symbol), {})
                        asked.setdefault(requirement.value, gate.span.line)
    return parts


def _is_optional(reached: ReachedUse, parts: Parts) -> bool:
    """Whether the use is for hosts that have the device only: one of several, or behind a question for it."""
    if "|" in reached.use.device:
        return True
    line = parts.get((reached.path, reached.symbol), {}).get(device_type(reached.use.device))
    return line is not None and line <= reached.use.span.line


def _drives(use: DeviceUse, catalog: Catalog) -> bool:
    """Whether a use surely makes an accelerator do something."""
    if not use.sure or use.traced and use.construct == "api" or not is_binding(use.device, catalog):
        return False
    if use.role == "placement":
        # A sharding spec names devices without placing anything, a default gives way to what the caller passes.
        spec = use.context.endswith(SPECS) or "/" in use.name or is_default(use)
        return not spec and use.construct in ("string", "fstring", "method", "constant", "tensor_type")
    if use.role == "api" and use.construct == "api":
        entry = catalog.find_api(use.name)
        # Seeds are kept until there is a device, questions answer without one, settings steer.
        idle = entry is None or entry.family == "rng" or use.name.startswith(SETTINGS_PREFIXES)
        return not idle and use.name.rpartition(".")[2] not in QUESTIONS and not use.name.endswith("Error")
    return False


def _weight(use: DeviceUse, catalog: Catalog) -> tuple[int, str]:
    if vendor_device(use, catalog):
        return 4, f"{use.name}, which exists on {use.device} only"
    if use.role == "placement":
        return 3, f"{shown(use)} places on {device_words(use.device)}"
    return 1, f"{use.name} works on {use.device}"


def _once(reasons: list[Reason]) -> list[Reason]:
    """Each message once: ten tests with one literal are one reason."""
    return list({r.message: r for r in reversed(reasons)}.values())[::-1]


def _bound_to_one(cls: LinkedClass) -> list[Reason]:
    catalog = cls.suite.catalog
    tests = all_tests(cls)
    if not tests:
        return []
    reasons: list[Reason] = []
    devices = cls.devices
    # For the CPU alone reviewers let it be ACCELERATOR: a device-generic test that is kept there (pytorch#195125).
    if cls.is_instantiated and devices.exact and len(devices.devices) == 1 and "cpu" not in devices:
        one = cls.device_type_instantiations[0]
        reasons.append(Reason(5, f"it is instantiated for {devices.devices[0]} only", cls.path, one.span))
    bound: dict[str, list[Reason]] = {}
    for owner, test in tests:
        for device, reason in _bindings(cls, owner, test, catalog).items():
            bound.setdefault(device, []).append(reason)
    for device, every in bound.items():
        if len(every) == len(tests):
            first = every[0]
            message = f"every test is bound to {device}: {first.message}"
            reasons.append(Reason(first.weight, message, first.path, first.span))
            reasons += [r for r in _once(every)[1:] if r.message != first.message]
            break
    return reasons


def _bindings(cls: LinkedClass, owner: LinkedClass, test: Function, catalog: Catalog) -> dict[str, Reason]:
    """Devices that one test cannot do without, each with the reason."""
    found: dict[str, Reason] = {}
    for decorator in test.decorators:
        entry = catalog.find_decorator(decorator.qualified)
        if entry is not None and entry.role == "whitelist":
            devices = restricted_to(decorator, entry)
            if len(devices) == 1 and devices[0] not in ("accelerator", "cpu"):
                found[devices[0]] = Reason(4, f"@{decorator.name}", owner.path, decorator.span)
    reached = reach(cls, test)
    for use in reached.uses:
        device = vendor_device(use.use, catalog)
        if device and use.use.sure and device not in found:
            found[device] = Reason(4, use.use.name, use.path, use.use.span)
    if not test.reads_device or "device" not in test.parameters:
        optional = _optional_parts(reached)
        for use in reached.uses:
            device = device_type(use.use.device)
            sure = use.use.role == "placement" and _drives(use.use, catalog) and not _is_optional(use, optional)
            if sure and device not in (*found, "accelerator"):
                found[device] = Reason(3, f"{shown(use.use)} places on {device}", use.path, use.use.span)
    return found


def _only_places(cls: LinkedClass) -> list[Reason]:
    """Reasons why a class for one accelerator may be for all: nothing it reaches needs that one.

    Every use has to be understood, and to have a generic form. Said of classes with placements only.
    """
    catalog = cls.suite.catalog
    home = home_device(cls)
    tests = all_tests(cls)
    if not home or home == "cpu" or not tests or cls.opaque_bases or cls.facts.dynamic:
        return []
    if home in cls.name.lower():
        return []  # its author meant that device
    found = class_reach(cls)
    if found.unknown or not all(_is_portable(use, home, catalog) for use in found.uses):
        return []
    if not all(_is_plain(gate.gate.requirements) for gate in found.gates):
        return []
    if any(f.function.flags and set(f.function.flags) - {"only_super"} for f in found.functions):
        return []
    if any(_names_device(d.name) for _, t in tests for d in t.decorators):
        return []
    placements = [u for u in found.uses if u.use.role == "placement" and _drives(u.use, catalog)]
    if not placements or not all(_places(reach(cls, t), catalog) for _, t in tests):
        return []
    reasons = [Reason(1, f"{shown(u.use)} only places tensors", u.path, u.use.span) for u in placements]
    return _once(reasons)[:SHOWN]


def _is_portable(reached: ReachedUse, home: str, catalog: Catalog) -> bool:
    use = reached.use
    if device_type(use.device) not in (home, "cpu", "accelerator"):
        return False
    if use.role == "placement":
        return use.sure and use.construct in ("string", "fstring", "method", "constant")
    if use.construct == "api":
        entry = catalog.find_api(use.name)
        return entry is not None and entry.kind in PORTABLE and not entry.returns_differ
    return False


def _is_plain(requirements: tuple[Requirement, ...]) -> bool:
    return all(r.kind in ("device", "accelerator") and not r.absent for r in requirements)


def _names_device(name: str) -> bool:
    return any(word in name.lower() for word in ("cuda", "xpu", "mps", "rocm", "sm8", "sm9", "tf32"))


def _places(found: Reach, catalog: Catalog) -> bool:
    return any(u.use.role == "placement" and _drives(u.use, catalog) for u in found.uses)


class ContradictedClassification(Rule):
    code = "HW108"
    name = "contradicted-classification"
    summary = "A hw_classification that the class's own code contradicts"
    why = (
        "A filter that believes the label runs a GENERIC class on a host without accelerator, where its CUDA test "
        "fails, and an ACCELERATOR class that is bound to one device on hardware where it skips. Labels that hide "
        "work still to do were refused in review (pytorch/pytorch#197874, #191179, #190933)."
    )
    bad = """\
import torch
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class LogTest(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_log(self):
        self.assertEqual(torch.ones(2, device="cuda").log(), torch.zeros(2, device="cuda"))
"""
    good = bad.replace(', device="cuda"', "")
    references = ("pytorch/pytorch#197874", "pytorch/pytorch#191179", "pytorch/pytorch#190933")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in context.suite.test_classes_in(context.module.path):
            if not cls.label or (cls.label_inherited and not cls.own_tests):
                continue
            reasons = contradictions(cls)
            if reasons:
                yield self._finding(context, cls, reasons)

    def _finding(self, context: RuleContext, cls: LinkedClass, reasons: tuple[Reason, ...]) -> Finding:
        label = cls.label
        told = reasons[:SHOWN]
        tag = cls.tag_owner.facts.tag if cls.tag_owner is cls and cls.tag_owner is not None else None
        span = tag.span if tag is not None else class_span(cls.facts)
        listed = "; ".join(r.message for r in told)
        if label in ("GENERIC", "CPU"):
            says = "but it reaches an accelerator"
            # A gate alone may be left over from what the tests did once.
            severity = Severity.ERROR if reasons[0].weight > 2 else Severity.WARNING
            fix = Fix(
                "move the tests that need a device to a class of their own, classified by what they need", "shown"
            )
        elif label == "ACCELERATOR":
            says, severity = "but it is bound to one device", Severity.ERROR
            fix = Fix("take the injected device in its tests, or classify it by the device it needs", "shown")
        else:
            says, severity = f"but it only places tensors on {home_device(cls)}", Severity.WARNING
            fix = Fix("place on the injected device and classify it ACCELERATOR", "shown")
        return Finding(
            code=self.code,
            path=context.module.path,
            span=span,
            severity=severity,
            message=f"{cls.facts.qualname} is classified {label}, {says}: {listed}; {fix.message}",
            symbol=cls.facts.qualname,
            detail=label,
            role="classification",
            related=tuple(Related(r.path, r.span, r.message) for r in told),
            fix=fix,
        )


RULES: tuple[type[Rule], ...] = (ContradictedClassification,)
