"""Evidence from gates: what a test, its class or its file is skipped without."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwlint.catalog import Catalog
from hwlint.classify.subject import (
    COMMON_ACCELERATORS,
    Subject,
    accelerator_placement,
    facts,
    is_accelerator,
    label_of,
)
from hwlint.classify.verdict import Evidence
from hwlint.scan.facts import Decorator, Function, Gate, Requirement, Span
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import ReachedGate


def gates(subject: Subject) -> Iterator[Evidence]:
    """What it is skipped without."""
    for reached in subject.reach.gates:
        gate = reached.gate
        if reached.scope == "helper" or (subject.cls.is_instantiated and is_device_aware(gate, subject.catalog)):
            continue
        if reached.scope == "file" and (gate.form != "module_exit" or in_main(gate, subject.cls.module.main)):
            continue
        for requirement in gate.requirements:
            found = _requirement(subject, reached, requirement)
            if found is None:
                continue
            if not gate.blocking:
                if found.argues_for in ("", "CPU", "GENERIC") or reached.scope == "setup":
                    continue
                yield subject.evidence(
                    "partial-gate",
                    "ACCELERATOR",
                    f"a part of it runs only where `{gate.name}`",
                    reached.path,
                    gate.span,
                )
            else:
                yield found


DEVICE_IN_TEXT = re.compile(r"(?i)cuda|gpu|accelerator|xpu|\bmps\b|\bhpu\b")
CONDITIONAL_SKIPS = ("skipIf", "skipUnless", "skip_but_pass_in_sandcastle_if")


def is_read(one: Requirement) -> bool:
    """Whether a requirement says something about devices that a rule of evidence takes up."""
    return one.kind not in ("unknown", "flag") and not (one.kind == "capability" and one.absent)


def unread_skip(cls: LinkedClass, function: Function) -> Decorator | None:
    """A conditional skip that the scan could make nothing of, although its condition or reason names a device."""
    for decorator in (*function.decorators, *cls.facts.decorators):
        if decorator.name.rpartition(".")[2] not in CONDITIONAL_SKIPS:
            continue
        gates = (gate for gate in (*function.gates, *cls.facts.gates) if gate.span.line == decorator.span.line)
        if any(is_read(requirement) for gate in gates for requirement in gate.requirements):
            continue
        if any(DEVICE_IN_TEXT.search(argument.text) for argument in decorator.arguments):
            return decorator
    return None


def is_device_aware(gate: Gate, catalog: Catalog) -> bool:
    """Whether a decorator looks at the running test's device: what it says holds for that device's variant alone."""
    if gate.form not in ("decorator", "class_decorator"):
        return False
    entry = catalog.decorators.get(gate.name.partition("(")[0].rpartition(".")[2].lstrip("@"))
    return entry is not None and entry.device_aware


def in_main(gate: Gate, main: Span | None) -> bool:
    """Whether a file's gate stands in ``__main__``: it then keeps the file from being run as a script only."""
    return main is not None and main.line <= gate.span.line <= main.end_line


def _requirement(subject: Subject, reached: ReachedGate, one: Requirement) -> Evidence | None:
    gate, path = reached.gate, reached.path
    if one.absent and reached.scope == "test" and one.value in COMMON_ACCELERATORS and not gate.compound:
        return subject.evidence(
            "absent-gate", "GENERIC", f"{_gate_text(gate)} keeps it to hosts without {one.value}", path, gate.span
        )
    if one.absent or (gate.combine in ("any", "mixed") and one.kind not in ("device", "accelerator")):
        return None
    what = _gate_text(gate)
    if one.kind == "device":
        if one.value == "cpu":
            return subject.evidence("cpu-library", "CPU", f"{what} asks for the CPU", path, gate.span)
        if one.value in COMMON_ACCELERATORS:
            return subject.evidence("gate", "ACCELERATOR", f"{what} asks for {one.value}", path, gate.span)
        if not is_accelerator(one.value, subject.catalog):
            return subject.evidence(
                "unknown", "", f"{what} asks for {one.value}, which no label is for", path, gate.span
            )
        return subject.evidence("gate", label_of(one.value), f"{what} asks for {one.value}", path, gate.span)
    if one.kind in ("accelerator", "count"):
        return subject.evidence("gate", "ACCELERATOR", f"{what} asks for an accelerator", path, gate.span)
    if one.kind == "capability":
        return subject.evidence(
            "capability-gate", "ACCELERATOR", f"{what} asks for the capability {one.value}", path, gate.span
        )
    if one.kind == "library":
        name = one.value.lower()
        if name in facts()["libraries"]["cpu"].split():
            return subject.evidence("cpu-library", "CPU", f"{what} asks for {one.value}", path, gate.span)
        vendor = vendor_of(name, subject.catalog)
        entry = subject.catalog.collectives.get(name)
        device = accelerator_placement(subject) if entry is not None and not entry.default_for else ""
        if entry is not None and device in entry.devices:
            message = f"{what} asks for {one.value}, the default of no device, and it places on {device}"
            return subject.evidence("backend-subject", label_of(device), message, path, gate.span)
        if vendor and reached.scope != "file" and name in subject.catalog.collectives:
            return subject.evidence("backend", "ACCELERATOR", f"{what} asks for {one.value}", path, gate.span)
        if vendor:
            kind = "vendor-backend" if reached.scope == "file" else "vendor-gate"
            return subject.evidence(kind, label_of(vendor), f"{what} asks for {one.value}", path, gate.span)
        return None
    if one.kind == "platform" and one.value.lower() in ("rocm", "hip"):
        return subject.evidence("vendor-gate", "CUDA", f"{what} asks for ROCm", path, gate.span)
    return None


def vendor_of(library: str, catalog: Catalog) -> str:
    """The device type that a library is bound to, '' for none."""
    entry = catalog.collectives.get(library)
    if entry is not None:
        return entry.vendor if entry.vendor != "cpu" else ""
    vendors: dict[str, str] = facts()["libraries"]["vendors"]
    return next((device for device, names in vendors.items() if library in names.split()), "")


def _gate_text(gate: Gate) -> str:
    name = gate.name if len(gate.name) <= 60 else gate.name[:57] + "..."
    return f"`@{name}`" if gate.form in ("decorator", "class_decorator") else f"`{name}`"
