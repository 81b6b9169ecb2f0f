"""HW701-HW703: collective back ends, ranks and requirements of one device."""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.catalog import Catalog
from hwlint.findings import Finding, Fix, Related, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.bodies import Body, finding, groups, newer_than, place, severity_of, shown
from hwlint.rules.devices import SPECS
from hwlint.rules.home import device_type, is_generic, is_home
from hwlint.rules.placed import Placed, placed_gates, short
from hwlint.scan.facts import DeviceUse
from hwlint.suite.model import LinkedClass

PROCESS_KINDS = ("distributed", "fsdp", "dtensor", "rpc")
GENERIC_BACKEND = "torch.distributed.get_default_backend_for_device(device)"
GENERIC_REQUIREMENT = "requires_accelerator_dist_backend"


def vendor_of(library: str, catalog: Catalog) -> str:
    """The device type that a collective back end is bound to, '' for one that serves several or is none."""
    collective = catalog.collectives.get(library)
    return collective.vendor if collective is not None else ""


class HardcodedBackend(Rule):
    code = "HW701"
    name = "hardcoded-backend"
    severity = Severity.WARNING
    summary = "A collective back end of one vendor, asked for by name"
    why = (
        "NCCL moves CUDA tensors only. Where the back end is not itself under test, "
        "torch.distributed.get_default_backend_for_device gives the one of the device under test "
        "(pytorch/pytorch#190537, #149317, #191411)."
    )
    bad = """\
import torch.distributed as dist
from torch.testing._internal.common_distributed import MultiProcessTestCase


class SumTest(MultiProcessTestCase):
    def test_sum(self):
        dist.init_process_group("nccl", rank=self.rank, world_size=2)
"""
    good = bad.replace('"nccl"', "dist.get_default_backend_for_device(self.device_type)")
    references = ("pytorch/pytorch#190537", "pytorch/pytorch#149317", "pytorch/pytorch#191411")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        def key(body: Body, use: DeviceUse) -> str | None:
            if use.role in ("text", "fake", "key"):
                return None
            return f"{use.role == 'comparison'} {use.name}"

        for group in groups(context, ("backend",), key):
            use = group.first
            severity = severity_of(use, group.exposure, Severity.WARNING)
            said = f'"{use.name}"'
            if use.name.startswith("ProcessGroup"):
                message = f"{use.name} {place(group.body)} exists for {use.device} only"
                yield finding(self.code, context, group, severity, message, use.name)
                continue
            if use.role == "comparison":
                message = f"{said} {place(group.body)} is compared with, a branch for {device_type(use.device)} only"
                yield finding(self.code, context, group, severity, message, f"comparison {use.name}")
                continue
            fix = Fix(f"where {use.name} is not the subject of the test, ask {GENERIC_BACKEND}", "shown")
            message = f"{said} {place(group.body)} moves tensors of {device_type(use.device)} only"
            yield finding(self.code, context, group, severity, message, f"{use.role} {use.name}", fix)


class OneDeviceForAllRanks(Rule):
    code = "HW702"
    name = "ranks-on-one-device"
    severity = Severity.WARNING
    summary = "A fixed device index in a test that runs in several processes"
    why = (
        "In a multi-process test each rank has its own device: a literal index puts all ranks on one, and so does "
        "the injected device string, which is index 0 everywhere (pytorch/pytorch#191419, #194140). The rank "
        "picks the index."
    )
    bad = """\
import torch
from torch.testing._internal.common_distributed import MultiProcessTestCase
from torch.testing._internal.common_utils import HardwareClassification


class MaxTest(MultiProcessTestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_max(self):
        x = torch.ones(1, device="cuda:0")
        self.assertEqual(x.max(), self.rank)
"""
    good = bad.replace('"cuda:0"', "torch.device(self.device_type, self.rank)")
    references = ("pytorch/pytorch#191419", "pytorch/pytorch#194140")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        def key(body: Body, use: DeviceUse) -> str | None:
            _, _, index = use.device.partition(":")
            if use.role != "placement" or not index.isdigit() or not use.sure:
                return None
            if "/" in use.name or use.context.endswith(SPECS):
                return None  # "rank:1/cuda:1" of a sharding spec says itself which rank
            if not body.classes or not all(_runs_in_ranks(c) for c in body.classes):
                return None
            indexes = {u.device for u in body.uses if u.role == "placement" and ":" in u.device}
            return use.device if indexes == {use.device} else None  # several indexes: the test spreads itself

        for group in groups(context, ("string",), key):
            use = group.first
            kind = device_type(use.device)
            fix = Fix(f'let the rank pick the index: torch.device("{kind}", self.rank)', "shown")
            message = f"{shown(use)} {place(group.body)} puts every rank on one device"
            # One rank alone may do it, behind a guard that is not seen: sure only where the class is for every device.
            worst = Severity.WARNING if all(is_generic(c) for c in group.body.classes) else Severity.INFO
            severity = severity_of(use, group.exposure, worst)
            yield finding(self.code, context, group, severity, message, use.device, fix)


def _runs_in_ranks(cls: LinkedClass) -> bool:
    """Whether each rank is a process of its own; the ranks of a MultiThread base share one on purpose."""
    bases = [base for base in cls.framework_bases if base.kind in PROCESS_KINDS]
    return bool(bases) and not any("MultiThread" in base.name for base in bases)


class OneVendorRequirement(Rule):
    code = "HW703"
    name = "one-vendor-requirement"
    severity = Severity.WARNING
    summary = "A requirement decorator for one vendor's collective library"
    why = (
        "@requires_nccl keeps every other accelerator out of a test whose body may be generic already; "
        "@requires_accelerator_dist_backend asks for NCCL, XCCL or HCCL, whichever the host has "
        "(torch/testing/_internal/common_distributed.py, torch 2.8; pytorch/pytorch#190537, #192958)."
    )
    bad = """\
from torch.testing._internal.common_distributed import MultiProcessTestCase, requires_nccl


class MinTest(MultiProcessTestCase):
    @requires_nccl()
    def test_min(self):
        self.assertGreaterEqual(self.rank, 0)
"""
    good = bad.replace("requires_nccl", "requires_accelerator_dist_backend")
    fix_safety = "Unsafe: hosts with another accelerator run the test afterwards."
    references = ("pytorch/pytorch#190537", "pytorch/pytorch#192958")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        seen: dict[tuple[str, str], list[Placed]] = {}
        for placed in placed_gates(context):
            library = next((r.value for r in placed.gate.requirements if self._asks(r.kind, r.value, context)), "")
            if not library or any(r.absent for r in placed.gate.requirements if r.value == library):
                continue
            vendor = vendor_of(library, context.catalog)
            if placed.classes and all(is_home(c, vendor, context.catalog) for c in placed.classes):
                continue
            # Forty tests of a class with one requirement are one decision to take.
            owner = placed.owner.facts.qualname if placed.owner is not None else placed.symbol
            seen.setdefault((owner, placed.gate.name), []).append(placed)
        for (owner, _), places in seen.items():
            yield self._finding(context, owner, places)

    def _asks(self, kind: str, value: str, context: RuleContext) -> bool:
        return kind == "library" and bool(vendor_of(value, context.catalog))

    def _finding(self, context: RuleContext, owner: str, places: list[Placed]) -> Finding:
        first = places[0]
        path = context.module.path
        library = next(r.value for r in first.gate.requirements if self._asks(r.kind, r.value, context))
        vendor = vendor_of(library, context.catalog)
        many = f" and {len(places) - 1} more" if len(places) > 1 else ""
        message = f"{short(first.gate.name)} at {first.symbol}{many} asks for {library}, which only {vendor} has"
        fix = self._fix(context, first)
        if fix is not None:
            message += f"; {fix.message}"
        unseen = not any(p.classes for p in places) or not any(p.gate.blocking for p in places)
        # A version of the library or a feature of it: then the library is the subject.
        unseen = unseen or (first.entry is not None and not first.entry.generic_form)
        return Finding(
            code=self.code,
            path=path,
            span=first.gate.span,
            severity=Severity.INFO if unseen else Severity.WARNING,
            message=message,
            symbol=owner,
            detail=first.gate.name[:120],
            role="gate",
            related=tuple(Related(path, p.gate.span, f"also at {p.symbol}") for p in places[1:]),
            fix=fix,
        )

    def _fix(self, context: RuleContext, placed: Placed) -> Fix | None:
        entry, decorator = placed.entry, placed.decorator
        generic = entry.generic_form if entry is not None else ""
        if decorator is None or not generic:
            return Fix(f"where the library is not the subject, ask for any with @{GENERIC_REQUIREMENT}()", "shown")
        since = context.catalog.decorators[generic].since
        if newer_than(since, context):
            say = f"@{generic} is the device-generic form from torch {since} on, newer than the torch"
            return Fix(f"{say} {context.settings.torch} set", "none")
        if generic != GENERIC_REQUIREMENT:
            return Fix(f"write @{generic} instead, and place by device", "shown")
        text = f"{generic}()"
        imported = generic in dict(context.module.imports)
        return Fix(f"write @{text} instead", "unsafe" if imported else "shown", text, decorator.span)


RULES: tuple[type[Rule], ...] = (HardcodedBackend, OneDeviceForAllRanks, OneVendorRequirement)
