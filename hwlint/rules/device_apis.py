"""HW401-HW407: names of torch.cuda, torch.xpu and the like in code that is meant for every device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from hwlint.catalog import SETTINGS_PREFIXES, DeviceApi
from hwlint.findings import Applicability, Finding, Fix, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.bodies import Body, Group, finding, groups, newer_than, obstacle, place, severity_of
from hwlint.rules.home import is_generic
from hwlint.scan.facts import DeviceUse

STREAMS = ("stream", "graph")
QUESTIONS = ("is_available", "device_count")
"""They drive nothing, but what follows from the answer is for one device."""


def rule_for(entry: DeviceApi) -> str:
    """The code of the rule that reports a device API: each API is reported by exactly one."""
    if entry.kind == "vendor_only":
        return "HW406"
    if entry.family in STREAMS:
        return "HW404"
    if entry.returns_differ:
        return "HW407"
    if entry.kind == "no_wrapper":
        return "HW405"
    if entry.family == "memory":
        return "HW403"
    return "HW401" if entry.kind == "same" else "HW402"


class DeviceApiRule(Rule):
    """One kind of device API; a group is one API in one function."""

    worst: ClassVar[Severity] = Severity.ERROR

    def check(self, context: RuleContext) -> Iterator[Finding]:
        def key(body: Body, use: DeviceUse) -> str | None:
            if use.role in ("text", "key"):
                return None
            entry = context.catalog.find_api(use.name)
            if entry is None or rule_for(entry) != self.code:
                return None
            if body.constant is not None and body.constant.requirements:
                return None  # a flag of the module: its gates are reported (HW502)
            return use.name

        for group in groups(context, ("api",), key):
            entry = context.catalog.find_api(group.first.name)
            assert entry is not None
            found = self.judge(context, group, entry)
            if found is not None:
                yield found

    def judge(self, context: RuleContext, group: Group, entry: DeviceApi) -> Finding | None:
        use = group.first
        asks = entry.name.rpartition(".")[2] in QUESTIONS
        severity = severity_of(use, group.exposure, Severity.WARNING if asks else self.worst)
        verb = "asks for" if asks else "works on"
        message = f"{use.name} {place(group.body)} {verb} {use.device} only"
        fix = replacement_of(context, group, entry)
        return finding(self.code, context, group, severity, message, detail=use.name, fix=fix)


def replacement_of(context: RuleContext, group: Group, entry: DeviceApi) -> Fix | None:
    """What to write instead, and how far that is exact; None where there is no generic form."""
    if not entry.replacement:
        return None
    use, body = group.first, group.body
    target = entry.replacement
    if "(device)" in target:
        name = body.device_name
        target = target.replace("(device)", f"({name})") if name else target
    if newer_than(entry.since, context):
        why = (
            f"{entry.replacement} is the device-generic form from torch {entry.since} on, newer than the torch {{}} set"
        )
        return Fix(why.format(context.settings.torch), "none")
    message = f"the device-generic form is {target}"
    if entry.note:
        message += f" ({entry.note})"
    if entry.returns_differ:
        message += f", with another result: {entry.returns_differ}"
    stop = _stop(use, body, entry)
    if stop:
        return Fix(f"{message}; not changed here: {stop}", "none")
    if entry.returns_differ or not entry.drop_in:
        return Fix(message, "shown" if entry.family in STREAMS or not entry.returns_differ else "none")
    if entry.positional_only:
        message += " (its device argument has no keyword)"
    if use.span.line != use.span.end_line:
        return Fix(message, "shown")
    applicability: Applicability = "unsafe" if entry.raises_without_accelerator else "safe"
    if not use.sure or entry.note or entry.name.rpartition(".")[2] in QUESTIONS:
        applicability = "shown"
    return Fix(message, applicability, target, use.span)


def _stop(use: DeviceUse, body: Body, entry: DeviceApi) -> str:
    if use.traced and entry.family in STREAMS:
        return "the code is traced, where the device's own streams are the thing under test"
    return obstacle(body)


class SameNamedApi(DeviceApiRule):
    code = "HW401"
    name = "device-module-call"
    summary = "A function of a device module that torch.accelerator has under the same name"
    why = (
        "torch.cuda.synchronize() and its like do nothing or raise on any other accelerator, though "
        "torch.accelerator has the same function for all of them. Seen replaced by hand in "
        "pytorch/pytorch#180368, #185478, #190188. torch.accelerator raises in a build without an accelerator, so "
        "the call has to stay behind a gate (#185478)."
    )
    bad = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase


class CopyTest(TestCase):
    def test_copy(self, device):
        x = torch.ones(3, device=device)
        torch.cuda.synchronize()
        self.assertEqual(x.sum(), 3)


instantiate_device_type_tests(CopyTest, globals())
"""
    good = bad.replace("torch.cuda.synchronize()", "torch.accelerator.synchronize()")
    fix_safety = "Unsafe where the torch.accelerator function raises in a build without an accelerator; safe otherwise."
    references = ("pytorch/pytorch#180368", "pytorch/pytorch#185478", "pytorch/pytorch#190188")


class RenamedApi(DeviceApiRule):
    code = "HW402"
    name = "renamed-device-module-call"
    summary = "A function of a device module that torch.accelerator has under another name"
    why = (
        "torch.accelerator has it, but under another name: set_device is set_device_index, current_device is "
        "current_device_index (a reviewer got it wrong in pytorch/pytorch#190761). Replaced by hand in #159021, "
        "#195424."
    )
    bad = SameNamedApi.bad.replace("torch.cuda.synchronize()", "torch.cuda.set_device(0)")
    good = SameNamedApi.bad.replace("torch.cuda.synchronize()", "torch.accelerator.set_device_index(0)")
    fix_safety = SameNamedApi.fix_safety
    references = ("pytorch/pytorch#159021", "pytorch/pytorch#190761", "pytorch/pytorch#195424")


class MemoryApi(DeviceApiRule):
    code = "HW403"
    name = "device-memory-call"
    summary = "A memory function of a device module that torch.accelerator has"
    why = (
        "Memory statistics and cache control exist in torch.accelerator (2.9 and later; get_memory_info since "
        "2.10), so a memory test need not be for one device. They raise in a build without an accelerator "
        "(pytorch/pytorch#185478)."
    )
    bad = SameNamedApi.bad.replace("torch.cuda.synchronize()", "torch.cuda.empty_cache()")
    good = SameNamedApi.bad.replace("torch.cuda.synchronize()", "torch.accelerator.empty_cache()")
    fix_safety = "Unsafe: the torch.accelerator function raises in a build without an accelerator."
    references = ("pytorch/pytorch#185478", "pytorch/pytorch#189751")


class StreamApi(DeviceApiRule):
    code = "HW404"
    name = "device-stream"
    severity = Severity.WARNING
    worst = Severity.WARNING
    summary = "A stream, event or graph of one device"
    why = (
        "torch.Stream(device=) and torch.Event(device=) stand for the streams and events of every back end "
        "(pytorch/pytorch#190521, #181522). Where the code is traced the device's own context is under test and "
        "stays (#185213), and so does one whose CUDA-only members (priority, IPC handles) are used."
    )
    bad = SameNamedApi.bad.replace("torch.cuda.synchronize()", "s = torch.cuda.Stream()")
    good = SameNamedApi.bad.replace("torch.cuda.synchronize()", "s = torch.Stream(device=device)")
    fix_safety = "Never applied by itself: what is done with the object decides."
    references = ("pytorch/pytorch#181522", "pytorch/pytorch#185213", "pytorch/pytorch#190521")


class NoWrapperApi(DeviceApiRule):
    code = "HW405"
    name = "device-module-without-wrapper"
    severity = Severity.WARNING
    worst = Severity.WARNING
    summary = "A function that only the device modules have, called on one of them by name"
    why = (
        "torch.accelerator has no such function, but torch.get_device_module(device) gives the module of the "
        "device under test, and the function with it where the back end has one (pytorch/pytorch#189751)."
    )
    bad = SameNamedApi.bad.replace("torch.cuda.synchronize()", "torch.cuda.manual_seed_all(0)")
    good = SameNamedApi.bad.replace("torch.cuda.synchronize()", "torch.get_device_module(device).manual_seed_all(0)")
    fix_safety = "Shown only: not every back end has the function."
    references = ("pytorch/pytorch#189751",)


class VendorOnlyApi(DeviceApiRule):
    code = "HW406"
    name = "vendor-only-api"
    summary = "An API of one vendor in a device-generic class"
    why = (
        "nvtx, cudart, jiterator, nccl and the like exist on one device only: a test that needs one belongs into "
        "a class for that device, or behind a gate for it, whatever else it does "
        "(pytorch/pytorch#190188)."
    )
    bad = SameNamedApi.bad.replace("torch.cuda.synchronize()", "torch.cuda.nvtx.range_push('x')")
    good = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class RangeTest(TestCase):
    hw_classification = HardwareClassification.CUDA

    def test_range(self, device):
        torch.cuda.nvtx.range_push('x')
        torch.cuda.nvtx.range_pop()


instantiate_device_type_tests(RangeTest, globals(), only_for="cuda")
"""
    references = ("pytorch/pytorch#190188", "pytorch/pytorch#195424")

    def judge(self, context: RuleContext, group: Group, entry: DeviceApi) -> Finding | None:
        generic = [c for c in group.body.classes if is_generic(c)]
        if not generic:
            return None
        use = group.first
        severity = severity_of(
            use, group.exposure, Severity.INFO if use.name.startswith(SETTINGS_PREFIXES) else Severity.ERROR
        )
        names = ", ".join(dict.fromkeys(c.facts.qualname for c in generic[:3]))
        message = f"{use.name} {place(group.body)} exists on {use.device} only, and {names} is meant for every device"
        if group.exposure == "bound":
            message += f"; move the test to a class for {use.device} or put it behind a gate for it"
        return finding(self.code, context, group, severity, message, detail=use.name)


class OtherResultApi(DeviceApiRule):
    code = "HW407"
    name = "device-call-with-other-result"
    severity = Severity.WARNING
    worst = Severity.WARNING
    summary = "A function whose torch.accelerator namesake returns something else"
    why = (
        "torch.cuda.get_device_capability() is a tuple, torch.accelerator.get_device_capability() a dict: the "
        "name may be replaced only together with what reads the result."
    )
    bad = SameNamedApi.bad.replace("torch.cuda.synchronize()", "major, _ = torch.cuda.get_device_capability()")
    good = SameNamedApi.bad.replace(
        "torch.cuda.synchronize()", 'dtypes = torch.accelerator.get_device_capability()["supported_dtypes"]'
    )
    references = ("pytorch/pytorch#182906",)


RULES: tuple[type[Rule], ...] = (
    SameNamedApi,
    RenamedApi,
    MemoryApi,
    StreamApi,
    NoWrapperApi,
    VendorOnlyApi,
    OtherResultApi,
)
