"""Which tests of a class run on XPU as well: those that ask for whichever accelerator is there.

``instantiate_device_type_tests`` makes a class for XPU only with ``allow_xpu=True``, for all of its tests
(torch/testing/_internal/common_device_type.py, torch 2.14.1).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from codemods.device_defaults import idle_defaults
from codemods.device_gates import GatePlan
from codemods.device_spots import Ground
from codemods.device_values import Blocked
from codemods.plan import Context
from hwlint.scan.facts import Function
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import Reach, ReachedUse


def tests_on_xpu(
    context: Context, cls: LinkedClass, tests: Sequence[tuple[Function, Reach, Ground]], gates: Mapping[int, GatePlan]
) -> frozenset[int]:
    """The lines of the tests that ran on XPU as well. Raises Blocked where others of the class would newly do so.

    ``gates``: what becomes of each test's gates, by the identity of the function.
    """
    on_xpu: list[str] = []
    others: list[str] = []
    lines = set()
    for function, reached, _ in tests:
        idle = idle_defaults(context, cls, reached)
        may = gates[id(function)].allow_xpu or _names_any(reached, idle)
        if may and not _names_cuda(reached, idle):
            on_xpu.append(function.name)
            lines.add(function.line)
        elif not _skips_xpu(reached):
            others.append(function.name)
    if on_xpu and others:
        # Those that are fewer are named: a split leaves them.
        fewer, where = (on_xpu, "on XPU as well") if len(on_xpu) < len(others) else (others, "on CUDA alone")
        raise Blocked("split", f"it runs {where}, and other tests of the class do not: {', '.join(fewer)}")
    if on_xpu and any(question.names_cuda for _, _, ground in tests for question in ground.questions):
        raise Blocked("unknown-gate", f"{on_xpu[0]} runs on XPU as well, and leaves out there what it asks CUDA for")
    return frozenset(lines)


def _names_any(reached: Reach, idle: Collection[ReachedUse]) -> bool:
    """Whether the test names the accelerator that there is, as GPU_TYPE does: it ran on XPU as well.

    ``idle``: uses that come to nothing.
    """
    uses = (one.use for one in reached.uses if one not in idle)
    return any(u.device.partition(":")[0] == "accelerator" and u.role == "placement" for u in uses)


def _skips_xpu(reached: Reach) -> bool:
    """Whether a decorator of the test leaves it out where there is an XPU, as ``@skipIfXpu`` does."""
    gates = (one.gate for one in reached.gates if one.scope == "test" and one.gate.form == "decorator")
    return any([(r.kind, r.value, r.absent) for r in gate.requirements] == [("device", "xpu", True)] for gate in gates)


def _names_cuda(reached: Reach, idle: Collection[ReachedUse]) -> bool:
    """Whether the test names CUDA itself: whatever its gate says, it ran nowhere else. ``idle`` as above."""
    uses = (one.use for one in reached.uses if one not in idle)
    return any(u.device.partition(":")[0] == "cuda" and u.role in ("placement", "backend") for u in uses)
