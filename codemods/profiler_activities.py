"""Asks the profiler for the activity of the device under test instead of CUDA's.

Only where a list of activities is asked for, and the test looks for no event of one vendor's runtime. Names of
fields and sort keys stay: their ``cuda_`` forms are read from whatever device there is
(torch/autograd/profiler_util.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from codemods.device_changes import TestChange, plan_tests, test_splices
from codemods.device_spots import Ground, spot_of
from codemods.device_values import Spot
from codemods.edit import SourceFile, Splice
from codemods.plan import Change, Codemod, Context, Plan
from hwlint.scan.facts import Function
from hwlint.suite.model import LinkedClass


class ProfilerActivities(Codemod):
    name = "profiler_activities"
    summary = "Asks the profiler for the activity of the device under test instead of CUDA's."

    def plan(self, context: Context) -> Plan:
        return plan_tests(self.name, context, "profile the device under test", _spots, cpu_too=True, profiled=True)

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        return [s for change in changes if isinstance(change, TestChange) for s in test_splices(file, change)]


def _spots(context: Context, cls: LinkedClass, function: Function, ground: Ground) -> tuple[Spot, ...]:
    uses = [u for u in function.uses if u.role == "profiler" and u.construct == "activity"]
    return tuple(spot for spot in (spot_of(use, ground) for use in uses) if spot is not None)
