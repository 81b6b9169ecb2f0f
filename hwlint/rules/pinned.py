"""HW203: module constants that fix the device for every test that reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwlint.catalog import Flag
from hwlint.findings import Finding, Fix, Related, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.bodies import (
    Body,
    Exposure,
    bodies_of,
    device_words,
    is_attribute,
    severity_of,
)
from hwlint.rules.home import device_type, is_binding
from hwlint.rules.placed import Placed, placed_gates
from hwlint.scan.facts import Constant, DeviceUse


class PinnedConstant(Rule):
    code = "HW203"
    name = "pinned-device-constant"
    summary = "A module constant that fixes the device for every test that reads it"
    why = (
        "One module-level DEVICE, device_type or GPU_TYPE decides for all classes of the file, and at import: no "
        "variant of a test can run elsewhere. Upstream removes GPU_TYPE (pytorch/pytorch#189138) in favour of the "
        "injected device; the older TEST_DEVICE_BIAS linter (#152948) still recommends it. Change one reader of "
        "such a constant, and all have to change (#192958, #192966, #192044)."
    )
    bad = """\
import torch
from torch.testing._internal.common_utils import TestCase

DEVICE = "cuda"


class MulTest(TestCase):
    def test_mul(self):
        self.assertEqual(torch.ones(2, device=DEVICE) * 2, torch.full((2,), 2.0, device=DEVICE))
"""
    good = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase


class MulTest(TestCase):
    def test_mul(self, device):
        self.assertEqual(torch.ones(2, device=device) * 2, torch.full((2,), 2.0, device=device))


instantiate_device_type_tests(MulTest, globals())
"""
    fix_safety = "Never applied by itself: every reader of the constant has to change with it."
    references = ("pytorch/pytorch#189138", "pytorch/pytorch#192958", "pytorch/pytorch#192966")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        module = bodies_of(context)
        constants = {c.name: c for c in context.module.constants if c.device}
        found: dict[str, list[tuple[Body, Exposure, DeviceUse]]] = {}
        for body in module.bodies:
            for use in body.uses:
                if body.constant is not None or use.construct != "constant" or is_attribute(use):
                    continue
                name = use.name.rpartition(".")[2]
                constant = constants.get(name)
                device = constant.device if constant is not None else use.device
                if not is_binding(device, context.catalog) and device != "?":
                    continue
                exposure = module.exposure(body, device_type(device), context.catalog)
                if exposure != "home":
                    found.setdefault(name, []).append((body, exposure, use))
        for name, places in found.items():
            yield self._finding(context, name, constants.get(name), places)
        yield from self._flags(context)

    def _flags(self, context: RuleContext) -> Iterator[Finding]:
        """HAS_GPU and its like: flags of any accelerator that are evaluated at import."""
        flags: dict[str, list[Placed]] = {}
        names = {n for n, q in context.module.imports if _is_import_flag(context.catalog.find_flag(q))}
        if not names:
            return
        for placed in placed_gates(context):
            if placed.entry is None and any(r.kind == "accelerator" for r in placed.gate.requirements):
                for name in names.intersection(re.findall(r"\w+", placed.gate.name)):
                    flags.setdefault(name, []).append(placed)
        for name, places in flags.items():
            first = places[0]
            fix = Fix("let an instantiated class run on each accelerator, and ask for Triton there", "shown")
            asked = f"{len(places)} gate{'s' if len(places) > 1 else ''} here ask{'' if len(places) > 1 else 's'} it"
            message = f"{name} says at import whether an accelerator of the host has a working Triton; {asked}"
            yield Finding(
                code=self.code,
                path=context.module.path,
                span=first.gate.span,
                severity=Severity.WARNING if any(p.classes for p in places) else Severity.INFO,
                message=f"{message}; {fix.message}",
                symbol=name,
                detail=name,
                role="gate",
                related=tuple(Related(context.module.path, p.gate.span, f"{name} asked here") for p in places[1:]),
                fix=fix,
            )

    def _finding(
        self,
        context: RuleContext,
        name: str,
        constant: Constant | None,
        places: list[tuple[Body, Exposure, DeviceUse]],
    ) -> Finding:
        places.sort(key=lambda p: p[2].span)
        path = context.module.path
        pinned = constant is not None and constant.known and isinstance(constant.value, str)
        worst = Severity.ERROR if pinned else Severity.WARNING
        severity = min((severity_of(use, exposure, worst) for _, exposure, use in places), key=lambda s: s.rank)
        spans = [use.span for _, _, use in places]
        start = constant.span if constant is not None else spans.pop(0)
        readers = len({body.symbol for body, _, _ in places})
        by = f"{readers} function{'s' if readers > 1 else ''}"
        if constant is None:
            message = f"{name} stands for one accelerator of the host, chosen at import; {by} here read it"
        elif pinned:
            message = f"{name} fixes {device_words(constant.device)} for the whole file; {by} read it"
        elif constant.known:
            message = f"{name} lists {device_words(constant.device)} for the whole file; {by} read it"
        else:
            message = f"{name} picks the device at import, once for the whole file; {by} read it"
        fix = Fix("take the injected device parameter of an instantiated class instead", "shown")
        related = tuple(Related(path, span, f"{name} read here") for span in dict.fromkeys(spans) if span != start)
        role = min(places, key=lambda p: severity_of(p[2], p[1], worst).rank)[2].role
        return Finding(
            code=self.code,
            path=path,
            span=start,
            severity=severity,
            message=f"{message}; {fix.message}",
            symbol=name,
            detail=name,
            role=role,
            related=related,
            fix=fix,
        )


def _is_import_flag(flag: Flag | None) -> bool:
    return flag is not None and flag.asks == "accelerator" and flag.library == "triton" and not flag.lazy
