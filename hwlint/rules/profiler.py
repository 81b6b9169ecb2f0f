"""HW301-HW302: profiler activities, arguments and sort keys of one device."""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.catalog import ANY_ACCELERATOR, ProfilerName
from hwlint.findings import Finding, Fix, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.bodies import Body, finding, groups, place, severity_of, shown
from hwlint.scan.facts import DeviceUse


class ProfilerActivityOfOneDevice(Rule):
    code = "HW301"
    name = "profiler-activity"
    severity = Severity.WARNING
    summary = "A profiler activity of one device"
    why = (
        "ProfilerActivity.CUDA records nothing of another accelerator, and asked for on its own it fails there "
        "(pytorch/pytorch#182432, #183549, #192363). A test of CUPTI or of CUDA kernel names keeps it, in a class "
        "for CUDA."
    )
    bad = """\
import torch
from torch.profiler import ProfilerActivity, profile
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase


class RecordTest(TestCase):
    def test_record(self, device):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
            torch.ones(2, device=device)


instantiate_device_type_tests(RecordTest, globals())
"""
    good = bad.replace("[ProfilerActivity.CPU, ProfilerActivity.CUDA]", "torch.profiler.supported_activities()")
    references = ("pytorch/pytorch#182432", "pytorch/pytorch#183549", "pytorch/pytorch#192363")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        def key(body: Body, use: DeviceUse) -> str | None:
            return use.name if use.role not in ("text", "key") else None

        for group in groups(context, ("activity",), key):
            use = group.first
            fix = Fix("take the activity of the device under test, or torch.profiler.supported_activities()", "shown")
            message = f"{use.name} {place(group.body)} is the activity of {use.device} only"
            severity = severity_of(use, group.exposure, Severity.WARNING)
            yield finding(self.code, context, group, severity, message, use.name, fix)


class ProfilerField(Rule):
    code = "HW302"
    name = "profiler-argument"
    severity = Severity.WARNING
    summary = "A profiler argument, sort key or field that names one device"
    why = (
        "use_cuda= and sort keys such as cuda_time_total ask for one device; use_device= and device_time_total "
        "are the generic forms. Field names in a recorded event stay as they are "
        "(pytorch/pytorch#197874)."
    )
    bad = ProfilerActivityOfOneDevice.bad.replace(
        "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
        "torch.autograd.profiler.profile(use_cuda=True)",
    )
    good = ProfilerActivityOfOneDevice.bad.replace(
        "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
        "torch.autograd.profiler.profile(use_device=torch.device(device).type)",
    )
    references = ("pytorch/pytorch#182434", "pytorch/pytorch#197874")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        def key(body: Body, use: DeviceUse) -> str | None:
            return use.name if use.construct == "profiler_field" or use.role == "profiler" else None

        for group in groups(context, ("profiler_field", "string"), key):
            use = group.first
            entry = context.catalog.profiler.get(use.name)
            keep = entry is not None and (entry.keep or entry.kind == "field")
            fix: Fix | None
            if use.construct == "string":
                fix = Fix("give it torch.device(device).type of the device under test", "shown")
            elif entry is not None and entry.device == ANY_ACCELERATOR:
                continue  # use_device= is the generic form: what it is given is what counts
            else:
                fix = _other_name(entry, keep)
            severity = Severity.INFO if keep else severity_of(use, group.exposure, Severity.WARNING)
            message = f"{shown(use)} {place(group.body)} asks the profiler for {use.device}"
            yield finding(self.code, context, group, severity, message, use.name, fix)


def _other_name(entry: ProfilerName | None, keep: bool) -> Fix | None:
    if entry is None or not entry.replacement:
        return None
    kept = ", but a field of a record keeps its name" if keep else ""
    return Fix(f"the device-generic form is {entry.replacement}{kept}", "none" if keep else "shown")


RULES: tuple[type[Rule], ...] = (ProfilerActivityOfOneDevice, ProfilerField)
