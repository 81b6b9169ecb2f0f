"""Turns ``torch.cuda`` and its like into ``torch.accelerator`` and the device module, in device-generic tests.

A test changes as a whole: one API of its body without a device-generic form keeps the others, too. Only tests that
take ``device`` and are kept off the CPU change, where the generic form would raise without an accelerator. (Field
notes P8, P14.)
"""

from __future__ import annotations

from collections.abc import Sequence

from codemods.device_changes import TestChange, plan_tests, test_splices
from codemods.device_spots import Ground, spot_of
from codemods.device_values import Blocked, Spot
from codemods.edit import SourceFile, Splice
from codemods.plan import Change, Codemod, Context, Plan
from hwlint.catalog import SETTINGS_PREFIXES
from hwlint.scan.facts import DeviceUse, Function
from hwlint.suite.model import LinkedClass


class AcceleratorApi(Codemod):
    name = "accelerator_api"
    summary = "Turns `torch.cuda` calls and legacy tensor types of device-generic tests into device-generic ones."

    def plan(self, context: Context) -> Plan:
        return plan_tests(self.name, context, "call torch.accelerator and the device module", _spots)

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        return [s for change in changes if isinstance(change, TestChange) for s in test_splices(file, change)]


def _spots(context: Context, cls: LinkedClass, function: Function, ground: Ground) -> tuple[Spot, ...]:
    """The APIs of the test's own body. Raises Blocked."""
    uses = [u for u in function.uses if _is_api(u)]
    if not uses:
        return ()
    if any(
        u.traced
        for u in function.uses
        if u.construct == "api" and u.name.rpartition(".")[2] in ("Stream", "Event", "stream")
    ):
        raise Blocked("traced", "it uses streams in code that is traced")
    return tuple(spot for spot in (spot_of(use, ground) for use in uses) if spot is not None)


def _is_api(use: DeviceUse) -> bool:
    if use.construct == "tensor_type":
        return use.role == "placement" and not use.device.startswith("cpu")
    return use.construct == "api" and not use.name.startswith(SETTINGS_PREFIXES)
