"""skip_gates: golden pairs byte for byte, and what is refused with which reason."""

# ruff: noqa: E501  # Pairs are read side by side.

from __future__ import annotations

from dataclasses import replace

import pytest

from codemods.plan import Context, Options
from codemods.skip_gates import SkipGates
from hwlint.catalog import load_catalog
from hwlint.config import Settings
from hwlint.scan.module import scan_module
from hwlint.suite.link import link
from tests.codemods.harness import check_invariants, migrate, reasons

NAME = "skip_gates"
HEAD = """\
import unittest
import torch
from torch.testing._internal.common_device_type import *
from torch.testing._internal.common_utils import *


"""


def class_with(
    decorators: str, body: str = "torch.ones(2, device=device)", name: str = "test_t", parameters: str = "device"
) -> str:
    lines = "".join(f"    {line}\n" for line in decorators.split("\n"))
    return (
        f"{HEAD}class T(TestCase):\n{lines}    def {name}(self{', ' if parameters else ''}{parameters}):\n        {body}\n"
        "\n\ninstantiate_device_type_tests(T, globals(), allow_xpu=True)\n"
    )


@pytest.mark.parametrize(
    "decorators",
    [
        "# Only test on CUDA, as its stride is the reference\n@onlyCUDA",
        "# The strides:\n# only those of cuda are right\n@onlyCUDA\n@dtypes(torch.float)",
        "@onlyCUDA  # GPU only, see above",
        "# about the CUDA kernel\n@onlyCUDA",
    ],
)
def test_a_comment_that_says_why_keeps_the_test_to_its_device(decorators: str) -> None:
    outcome = migrate(class_with(decorators), NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T.test_t": "device-claim"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# needs only some memory\n@onlyCUDA", "# needs only some memory\n@onlyAccelerator"),
        ("@onlyCUDA", "@onlyAccelerator"),
        ("@onlyCUDA  # why", "@onlyAccelerator  # why"),
        ("@dtypes(torch.float)\n@onlyCUDA", "@dtypes(torch.float)\n@onlyAccelerator"),
        ('@unittest.skipIf(TEST_XPU, "gap")', '@skipXPUIf(True, "gap")'),
        ('@unittest.skipIf(TEST_XPU, "a " "b")', '@skipXPUIf(True, "a " "b")'),
        ('@unittest.skipIf(TEST_XPU, reason=f"gap {1}")', '@skipXPUIf(True, f"gap {1}")'),
        ("@skipIfXpu", "@skipXPU"),
        ('@skipIfXpu(msg="gap")', '@skipXPUIf(True, "gap")'),
        ("@skipIfRocm", "@skipCUDAIfRocm"),
        ('@unittest.skipIf(TEST_WITH_ROCM, "slow")  # here', '@skipCUDAIfRocm(msg="slow")  # here'),
        ("@skipIfMPS  # double", "@skipMPS  # double"),
        ('@onlyOn("cuda")\n@unittest.skipIf(TEST_HPU, "gap")', '@onlyOn("cuda")\n@skipHPUIf(True, "gap")'),
    ],
)  # fmt: skip
def test_decorators(before: str, after: str) -> None:
    outcome = migrate(class_with(before), NAME, unsafe=True)
    check_invariants(outcome, NAME, unsafe=True)
    assert outcome.after.decode() == class_with(after), outcome.refusals


def test_an_availability_gate_becomes_the_outermost_decorator() -> None:
    body = "torch.ones(2, device=device).cuda()"
    before = class_with('@dtypes(torch.float)\n# above\n@unittest.skipIf(not TEST_CUDA, "no CUDA")\n@slowTest', body)
    outcome = migrate(before, NAME, unsafe=True)
    check_invariants(outcome, NAME, unsafe=True)
    assert outcome.after.decode() == class_with("@onlyAccelerator\n@dtypes(torch.float)\n# above\n@slowTest", body)


def test_a_gate_beside_a_whitelist_goes() -> None:
    before = class_with('@onlyCUDA\n@unittest.skipIf(not TEST_CUDA, "no CUDA")')
    assert migrate(before, NAME, unsafe=True).after.decode() == class_with("@onlyAccelerator")


def test_a_lazy_condition_is_made_a_bool_and_that_is_safe() -> None:
    outcome = migrate(class_with("@serialTest(TEST_ACCELERATOR)"), NAME)
    assert outcome.after.decode() == class_with("@serialTest(bool(TEST_ACCELERATOR))")
    assert migrate(class_with("@serialTest(TEST_CUDA)"), NAME).changed is False


def test_all_but_that_is_unsafe() -> None:
    outcome = migrate(class_with("@onlyCUDA"), NAME)
    assert not outcome.changed
    assert [c.codemod for c in outcome.held] == [NAME]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (class_with("@onlyCUDA", 'torch.ones(2, device="cuda")'), "vendor-api"),
        (class_with("@onlyCUDA", "torch.cuda.nvtx.range_push('x')"), "vendor-api"),
        (class_with("@onlyCUDA", "torch.isnan(torch.ones(2, device=device))"), "device-claim"),
        (class_with("@onlyCUDA", "torch.ones(2, device=device)", "test_deterministic"), "device-claim"),
        (class_with("@onlyCUDA\n@skipCUDAIfNoMagma"), "capability-gate"),
        (class_with('@unittest.skipIf(not TEST_CUDA, "x")'), "unknown-gate"),
        (class_with('@unittest.skipIf(not TEST_CUDA, "x")', "torch.cuda.nvtx.range_push('x')"), "vendor-api"),
        (class_with('@unittest.skipIf(TEST_XPU or not TEST_CUDA, "x")'), "compound-gate"),
        (class_with('@unittest.skipIf(TEST_XPU, "x")', "pass", parameters=""), "unused-device"),
        (class_with('@unittest.skipIf(not SM80OrLater, "x")').replace("import *", "import *", 1).replace("common_utils import *", "common_utils import *\nfrom torch.testing._internal.common_cuda import SM80OrLater"), "capability-gate"),
    ],
)  # fmt: skip
def test_what_stays(source: str, reason: str) -> None:
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed
    found = reasons(outcome)["T.test_t" if "T.test_t" in reasons(outcome) else "T.test_deterministic"]
    assert found == reason


def test_a_class_gate_becomes_one_of_each_test() -> None:
    before = f"""{HEAD}@unittest.skipIf(not TEST_CUDA, "no CUDA")
class T(TestCase):
    # first
    def test_a(self, device):
        torch.ones(2, device=device)

    @onlyCPU
    def test_b(self, device):
        torch.ones(2, device=device)


instantiate_device_type_tests(T, globals())
"""
    after = before.replace('@unittest.skipIf(not TEST_CUDA, "no CUDA")\n', "").replace(
        "    # first\n", "    # first\n    @onlyAccelerator\n"
    )
    outcome = migrate(before, NAME, unsafe=True)
    check_invariants(outcome, NAME, unsafe=True)
    assert outcome.after.decode() == after


def test_a_class_gate_stays_where_one_test_cannot_take_it() -> None:
    source = f"{HEAD}@unittest.skipIf(not TEST_CUDA, 'x')\nclass T(TestCase):\n    def test_a(self):\n        pass\n\n\ninstantiate_device_type_tests(T, globals())\n"
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome)["T"] == "unknown-gate"


def test_a_class_for_one_device_is_none_of_its_business() -> None:
    source = class_with("@onlyCUDA").replace("allow_xpu=True", 'only_for="cuda"')
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed and not outcome.refusals


def test_an_older_torch_has_no_onlyaccelerator() -> None:
    module = scan_module(class_with("@onlyCUDA").encode(), "test/test_sample.py", load_catalog())
    context = Context(
        module, link([module], load_catalog()), replace(Settings(), torch="2.6"), {}, Options(unsafe=True)
    )
    plan = SkipGates().plan(context)
    assert not plan.changes
    assert [r.reason for r in plan.refusals] == ["needs-newer-torch"]


COMPILED = "torch.compile(torch.sin)(torch.ones(2, device=device))"
INDUCTOR = "from torch.testing._internal.inductor_utils import HAS_GPU, requires_gpu, skipGPUIf\n"


@pytest.mark.parametrize(
    ("decorators", "reason"),
    [
        ('@onlyAccelerator\n@unittest.skipIf(not HAS_GPU, "x")', ""),
        ("@onlyAccelerator\n@requires_gpu()", ""),
        ("@requires_gpu()", "capability-gate"),  # The CPU variant ran where the host has a GPU.
        ('@skipGPUIf(not HAS_GPU, "x")', ""),
        ('@onlyCUDA\n@skipCUDAIf(not HAS_GPU, "x")', "capability-gate"),
        ('@unittest.skipIf(not TEST_CUDA or not SM80OrLater, "x")', "capability-gate"),
    ],
)
def test_what_stays_for_triton_or_a_capability(decorators: str, reason: str) -> None:
    source = class_with(decorators, COMPILED).replace("\n\n\nclass", f"\n{INDUCTOR}\n\nclass", 1)
    source = source.replace(INDUCTOR, INDUCTOR + "from torch.testing._internal.common_cuda import SM80OrLater\n")
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome).get("T.test_t", "") == reason


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('@onlyCUDA\n@skipCUDAIf(not SM80OrLater, "x")', '@onlyAccelerator\n@skipCUDAIf(not SM80OrLater, "x")'),
        ('@onlyCUDAAndPRIVATEUSE1\n@skipCUDAIf(True, "x")', '@onlyAccelerator\n@skipCUDAIf(True, "x")'),
    ],
)
def test_what_is_skipped_on_cuda_alone_does_not_keep_others_out(before: str, after: str) -> None:
    head = HEAD.replace("\n\n\n", "\nfrom torch.testing._internal.common_cuda import SM80OrLater\n\n\n")
    assert migrate(class_with(before).replace(HEAD, head), NAME, unsafe=True).after.decode() == class_with(
        after
    ).replace(HEAD, head)
