"""HW201-HW207: devices that are written into test bodies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hwlint.findings import Finding, Fix, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.bodies import (
    Body,
    Group,
    bodies_of,
    device_words,
    finding,
    groups,
    obstacle,
    place,
    severity_of,
    shown,
)
from hwlint.rules.home import device_type
from hwlint.rules.pinned import PinnedConstant
from hwlint.rules.unused_device import UnusedDevice
from hwlint.scan.facts import DeviceUse

TEXT_ROLES = ("text", "fake", "key")


TYPE_TAKERS = ("autocast()", "GradScaler()", "init_device_mesh()", "DeviceMesh()", "get_device_module()")
"""Calls whose device argument is a bare type: the injected device has an index (torch.amp, torch.distributed)."""


def wants_type(context: str) -> bool:
    """Whether the place takes a device type and no device: ``device_type=``, ``torch.autocast()``."""
    return context.endswith(("device_type=)", "device_type =")) or context.endswith(TYPE_TAKERS)


def is_default(use: DeviceUse) -> bool:
    """Whether the literal is the default of a parameter, which a caller may well override."""
    return use.context.endswith("=") and not use.context.endswith(" =")


def use_device(group: Group, spelled: str = "{}") -> Fix:
    """How a literal device gives way to the device under test; ``spelled`` is what to write, {} for its name."""
    body = group.body
    use = group.first
    stop = obstacle(body)
    if stop:
        return Fix(f"use the device under test; not changed here: {stop}", "none")
    if is_default(use):
        return Fix("drop the default and pass the device under test", "shown")
    function = body.function
    name = body.device_name
    if not name and function is not None and function.kind == "test":
        name = "device"
    if not name:
        if function is not None and function.kind == "setup":
            return Fix("use self.device_type of the instantiated class (cls.device_type in setUpClass)", "shown")
        if function is not None:
            return Fix("pass the device under test in as a parameter", "shown")
        return Fix("take the device from the test that runs", "shown")
    text = spelled.format(name)
    exact = spelled == "{}" and use.construct == "string" and use.sure
    if use.via == name:
        return Fix(f"drop the assignment, and let {name} be the parameter of the test", "shown")
    if use.construct == "fstring" or ":" in use.device:
        text, exact = f"torch.device(torch.device({name}).type, index)", False
    elif wants_type(use.context) and not name.endswith("device_type"):
        text = f"torch.device({name}).type"
    elif use.context == "torch.device()":
        exact = False  # an index may follow, and the injected device has one already
    if body.device_name:
        say = f"write {text} instead"
        return Fix(say, "unsafe" if exact or spelled != "{}" else "shown", text if exact else None, use.span)
    say = f"give the test a device parameter, instantiate its class, and write {text} instead"
    return Fix(say, "shown", text if exact else None, use.span if exact else None)


class DeviceString(Rule):
    code = "HW201"
    name = "device-string"
    summary = "A device written as a string where the device under test belongs"
    why = (
        'A test that places its tensors on "cuda" runs on no other accelerator, whatever its classification says: '
        "the upstream linter does not look into bodies. The injected device parameter of an instantiated class is "
        "the device-generic form (pytorch/pytorch#191342, #196443, #189016)."
    )
    bad = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase


class AddTest(TestCase):
    def test_add(self, device):
        x = torch.ones(3, device="cuda")
        self.assertEqual(x + x, 2 * torch.ones(3, device=device))


instantiate_device_type_tests(AddTest, globals())
"""
    good = bad.replace('device="cuda"', "device=device")
    fix_safety = "Unsafe: the test then runs on every device that its class is instantiated for."
    references = ("pytorch/pytorch#191342", "pytorch/pytorch#196443", "pytorch/pytorch#189016")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        def key(body: Body, use: DeviceUse) -> str | None:
            if body.constant is not None and body.constant.device:
                return None  # HW203 reports it with its readers
            if use.role in (*TEXT_ROLES, "comparison", "profiler", "backend"):
                return None
            # Several indexes of one device type are one cause; its bare name can be replaced as it stands, they cannot.
            bare = use.construct == "string" and ":" not in use.device and not is_default(use)
            return f"{use.role} {device_type(use.device)} {bare} {use.context.endswith(SPECS)}"

        for group in groups(context, ("string", "fstring"), key):
            use = group.first
            worst = Severity.WARNING if use.context.endswith(SPECS) else Severity.ERROR
            if is_default(use):
                worst = default_severity(group.body)
            severity = severity_of(use, group.exposure, worst)
            fix = use_device(group)
            if use.role == "parametrization":
                fix = Fix("instantiate the class with instantiate_device_type_tests in the place of a list", "shown")
            where = f" in {use.context}" if use.context else ""
            said = f"{shown(use)}{where} {VERBS.get(use.role, 'names')} {device_words(use.device)}"
            message = f"{said}, {place(group.body)}"
            yield finding(self.code, context, group, severity, message, f"{use.role} {use.name}", fix)


def default_severity(body: Body) -> Severity:
    """Of a device as a default: unittest takes it, an instantiated class overrides it, a caller may."""
    if body.function is None or body.function.kind != "test":
        return Severity.WARNING
    return Severity.INFO if all(c.is_instantiated for c in body.classes) else Severity.ERROR


SPECS = ("(placement=)", "(placements=)")
"""Sharding specs: they say where shards would be, and place nothing by themselves."""

VERBS = {
    "placement": "places on",
    "parametrization": "lists",
    "unknown": "may place on",
}


class DeviceMethod(Rule):
    code = "HW202"
    name = "device-method"
    summary = "`.cuda()` and its like on a tensor or module"
    why = (
        "x.cuda() moves to one kind of accelerator; x.to(device) moves to the device under test "
        "(pytorch/pytorch#191342, #197793)."
    )
    bad = DeviceString.good.replace("x = torch.ones(3, device=device)", "x = torch.ones(3).cuda()")
    good = DeviceString.good.replace("x = torch.ones(3, device=device)", "x = torch.ones(3).to(device)")
    fix_safety = DeviceString.fix_safety
    references = ("pytorch/pytorch#191342", "pytorch/pytorch#197793")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        def key(body: Body, use: DeviceUse) -> str:
            return f"{use.name} {use.role in TEXT_ROLES}"

        for group in groups(context, ("method",), key):
            use = group.first
            fix = use_device(group, ".to({})")
            start, end = use.span[:2], use.span[2:]
            if start[0] != end[0] or end[1] - start[1] != len(use.name) + 2:  # not plain .cuda(): an index, most likely
                if fix.applicability != "none":
                    fix = Fix("move to torch.device(<type of the device under test>, index) instead", "shown")
            elif group.body.device_name and fix.applicability == "unsafe":
                fix = replace(fix, replacement=f"to({group.body.device_name})")
            message = f"{shown(use)} moves to {use.device} {place(group.body)}"
            severity = severity_of(use, group.exposure)
            yield finding(self.code, context, group, severity, message, use.name, fix)


class LegacyTensorType(Rule):
    code = "HW204"
    name = "legacy-tensor-type"
    severity = Severity.WARNING
    summary = "torch.cuda.FloatTensor and its like"
    why = (
        "The legacy tensor types put a device and a dtype into one name, and other back ends have none of their "
        "own: torch.tensor(..., dtype=, device=) says both apart (torch.set_default_tensor_type is deprecated "
        "since 2.1). A warning, since a test that names one is often about the type itself."
    )
    bad = DeviceString.good.replace("torch.ones(3, device=device)\n", "torch.cuda.FloatTensor(3).fill_(1)\n", 1)
    good = DeviceString.good.replace(
        "torch.ones(3, device=device)\n", "torch.ones(3, dtype=torch.float32, device=device)\n", 1
    )
    references = ("pytorch/pytorch#191342",)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        def key(body: Body, use: DeviceUse) -> str:
            return f"{use.name} {use.role}"

        for group in groups(context, ("tensor_type",), key):
            use = group.first
            entry = context.catalog.tensor_types.get(use.name)
            dtype = f"dtype={entry.dtype}, " if entry is not None else ""
            if use.role == "comparison":
                fix = Fix(f"compare the dtype ({dtype.rstrip(', ')}) and the device apart", "shown")
            else:
                form = f"{dtype}device={group.body.device_name or 'device'}"
                fix = Fix(f"name the dtype and the device apart: {form}", "shown")
            message = f"{use.name} fixes {use.device} {place(group.body)}"
            severity = severity_of(use, group.exposure, Severity.WARNING)
            yield finding(self.code, context, group, severity, message, f"{use.role} {use.name}", fix)


class BareComparison(Rule):
    code = "HW205"
    name = "device-comparison"
    severity = Severity.WARNING
    summary = "A comparison with one device type, or the injected device taken for a bare type"
    why = (
        'The injected device is "cuda:0", so device == "cuda" is never true and f"{device}:0" is "cuda:0:0" '
        "(pytorch/pytorch#170254, #192972). A branch on one device type leaves the other accelerators with the "
        "CPU's half."
    )
    bad = DeviceString.good.replace(
        "        self.assert", '        if device == "cuda":\n            return\n        self.assert'
    )
    good = DeviceString.good.replace(
        "        self.assert", '        if torch.device(device).type == "cpu":\n            return\n        self.assert'
    )
    references = ("pytorch/pytorch#170254", "pytorch/pytorch#192972", "intel/torch-xpu-ops#2975")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        yield from self._bare(context)

        def key(body: Body, use: DeviceUse) -> str | None:
            if use.role != "comparison":
                return None
            return use.construct

        for group in groups(context, ("string", "fstring", "attribute", "activity"), key):
            use = group.first
            kinds = " and ".join(dict.fromkeys(device_words(u.device) for u in group.uses))
            said = " and ".join(dict.fromkeys(shown(u) for u in group.uses))
            said = f"a comparison with {said}" if use.construct != "attribute" else said
            message = f"{said} {place(group.body)} holds for {kinds} only"
            message += (
                "; ask for what matters here (not the CPU, a capability), or keep it where the device is the point"
            )
            severity = severity_of(use, group.exposure, Severity.WARNING)
            yield finding(self.code, context, group, severity, message, f"{use.construct}s")

    def _bare(self, context: RuleContext) -> Iterator[Finding]:
        """The injected device taken for a bare type: wrong at home too, but only where it is injected."""
        for body in bodies_of(context).with_uses.get("bare_device", ()):
            uses = tuple(u for u in body.uses if u.construct == "bare_device" and u.role in ("comparison", "placement"))
            if not uses or body.function is None or body.function.kind != "test":
                continue
            if not body.classes or not all(c.is_instantiated for c in body.classes):
                continue
            fix = Fix("ask torch.device(device).type, or build torch.device(type, index)", "shown")
            group = Group(body, "bound", uses)
            if group.first.role == "comparison":
                message = (
                    f'device == "{group.first.device}" {place(body)} never holds: the injected device has an index'
                )
            else:
                message = f"an index behind {group.first.name} {place(body)}: the injected device has one already"
            severity = severity_of(group.first, "bound", Severity.WARNING)
            yield finding(self.code, context, group, severity, message, "bare", fix)


class DeviceText(Rule):
    code = "HW207"
    name = "device-text"
    severity = Severity.INFO
    summary = "A device in expected text, fake-tensor code or a dispatch key"
    why = (
        "Text that names a device follows what the code under test prints, fake tensors never touch hardware, and "
        "dispatch keys are names: none binds the test by itself, and a rewrite would break each "
        "(pytorch/pytorch#191079, #192972, #193921, #192582, #192426, #192695)."
    )
    bad = """\
import torch
from torch.testing._internal.common_utils import TestCase


class ReprTest(TestCase):
    def test_repr(self):
        self.assertExpectedInline(render(), "device='cuda:0'")
"""
    good = bad.replace("device='cuda:0'", "shape=(2,)")
    references = ("pytorch/pytorch#191079", "pytorch/pytorch#193921", "pytorch/pytorch#192426")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        def key(body: Body, use: DeviceUse) -> str | None:
            if use.role not in TEXT_ROLES:
                return None
            return f"{use.role} {device_type(use.device)}"

        for group in groups(context, ("string", "fstring", "attribute"), key):
            use = group.first
            kind = {"text": "text", "fake": "fake-tensor code", "key": "a dispatch or registration key"}[use.role]
            message = f"{device_words(use.device)} is named in {kind} {place(group.body)}"
            yield finding(self.code, context, group, Severity.INFO, message, f"{use.role} {use.device}")


RULES: tuple[type[Rule], ...] = (
    DeviceString,
    DeviceMethod,
    PinnedConstant,
    LegacyTensorType,
    BareComparison,
    UnusedDevice,
    DeviceText,
)
