"""distributed_backend: golden pairs, and what is refused."""

# ruff: noqa: E501  # Pairs are read side by side.

from __future__ import annotations

import pytest

from tests.codemods.harness import check_invariants, checked, migrate, reasons

NAME = "distributed_backend"


def class_with(line: str, decorator: str = "@onlyAccelerator", imports: str = "requires_nccl") -> str:
    return f"""\
import torch
import torch.distributed as dist
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_distributed import {imports}
from torch.testing._internal.common_utils import TestCase


class T(TestCase):
    {decorator}
    def test_t(self, device):
        {line}


instantiate_device_type_tests(T, globals())
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('dist.init_process_group("nccl", rank=self.rank)', "dist.init_process_group(dist.get_default_backend_for_device(device), rank=self.rank)"),
        ("dist.init_process_group(backend='nccl')", "dist.init_process_group(backend=dist.get_default_backend_for_device(device))"),
        ('dist.new_group([0], backend="nccl")', "dist.new_group([0], backend=dist.get_default_backend_for_device(device))"),
    ],
)  # fmt: skip
def test_back_ends(before: str, after: str) -> None:
    outcome = migrate(class_with(before), NAME)
    check_invariants(outcome, NAME)
    assert outcome.after.decode() == class_with(after), outcome.refusals


def test_requirements() -> None:
    before = class_with('dist.init_process_group("nccl")', "@onlyAccelerator\n    @requires_nccl()")
    outcome = migrate(before, NAME)
    check_invariants(outcome, NAME)
    after = class_with(
        "dist.init_process_group(dist.get_default_backend_for_device(device))",
        "@onlyAccelerator\n    @requires_accelerator_dist_backend()",
        "requires_accelerator_dist_backend, requires_nccl",
    )
    assert outcome.after.decode() == after


def test_the_requirement_of_a_test_that_may_run_on_the_cpu_is_not_changed_unasked() -> None:
    outcome = migrate(class_with("dist.barrier()", "@requires_nccl()"), NAME)
    assert not outcome.changed
    assert [c.description for c in outcome.held] == ["ask for the back end of any accelerator"]


def test_a_back_end_for_the_cpu_beside_it_stays_in_the_map() -> None:
    text = checked(class_with('dist.init_process_group("cpu:gloo,cuda:nccl")'), NAME, unsafe=True)
    expected = (
        'f"cpu:gloo,{torch.device(device).type}:{dist.get_default_backend_for_device(torch.device(device).type)}"'
    )
    assert f"        dist.init_process_group({expected})\n" in text


@pytest.mark.parametrize(
    "line",
    [
        'self.assertEqual(dist.get_backend(), "nccl")',
        'dist.init_process_group("cpu:gloo,cuda:nccl,xpu:xccl")',
        'run(backend="nccl")',
    ],
)
def test_a_back_end_that_is_tested_stays(line: str) -> None:
    outcome = migrate(class_with(line), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome)["T.test_t"] in ("vendor-api", "unknown-use", "layout")


def test_gloo_stays_without_a_word() -> None:
    outcome = migrate(class_with('dist.init_process_group("gloo")'), NAME, unsafe=True)
    assert not outcome.changed and not outcome.refusals
