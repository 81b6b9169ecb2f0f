"""device_parameter, where the fixture of a base finds the device and the test takes it for the contract alone."""

from __future__ import annotations

import pytest

from tests.codemods.harness import check_invariants, checked, migrate, reasons
from tests.support import check

NAME = "device_parameter"


FIXTURE_ALONE = """\
import torch
from torch.testing._internal.common_distributed import skip_if_lt_x_gpu
from torch.testing._internal.common_fsdp import FSDPTest


class T(FSDPTest):
    @skip_if_lt_x_gpu(2)
    def test_a(self):
        self._run(torch.nn.Linear(2, 2))
"""


GATED = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class T(TestCase):
    def _double(self, x):
        return x + x

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_t(self):
        \"\"\"On CUDA.\"\"\"
        self.assertTrue(self._double(torch.ones(2).pin_memory()).is_pinned())
"""


def test_a_test_that_would_not_use_device_takes_it_where_the_configuration_says_so() -> None:
    """Its gate keeps the CPU out, and its fixture picks the accelerator."""
    outcome = migrate(FIXTURE_ALONE, NAME, unsafe=True)
    check_invariants(outcome, NAME, unsafe=True)
    assert "    @onlyAccelerator\n    @skip_if_lt_x_gpu(2)\n    def test_a(self, device):\n" in outcome.after.decode()
    assert migrate(FIXTURE_ALONE, NAME).after == outcome.after  # FSDPTest proves the label.
    outcome = migrate(FIXTURE_ALONE, NAME, unsafe=True, unused_device="instantiated")
    assert not outcome.changed and reasons(outcome) == {"T": "unused-device"}
    assert any('`unused-device = "add"`' in r.text for r in outcome.refusals)


def test_a_test_without_gate_does_not_take_it() -> None:
    outcome = migrate(FIXTURE_ALONE.replace("    @skip_if_lt_x_gpu(2)\n", ""), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"T": "unused-device"}
    assert not any("add" in r.text for r in outcome.refusals)


def test_a_gate_that_keeps_the_cpu_out_is_enough() -> None:
    """What the test needs an accelerator for the source need not show, and HW206 says nothing."""
    text = checked(GATED, NAME, unsafe=True)
    assert "    @onlyAccelerator\n    def test_t(self, device):\n" in text
    assert text.endswith("instantiate_device_type_tests(T, globals())\n")
    assert not check("devices.HW206", text, header=False)
    assert check("devices.HW206", text.replace("    @onlyAccelerator\n", ""), header=False)
    assert not migrate(GATED, NAME, unsafe=True, unused_device="instantiated").changed


def test_a_gate_that_asks_cuda_for_triton_lets_no_other_accelerator_through() -> None:
    before = GATED.replace(
        "TEST_CUDA, TestCase\n", "TestCase\nfrom torch.testing._internal.triton_utils import requires_cuda\n"
    )
    before = before.replace('@unittest.skipIf(not TEST_CUDA, "no CUDA")', "@requires_cuda").replace(
        "_double(", "_fast("
    )
    before = before.replace("return x + x", "return torch.compile(lambda y: y + y)(x)")
    text = checked(before, NAME, unsafe=True)
    assert "    @onlyAccelerator\n    @requires_gpu_and_triton\n    def test_t(self, device):\n" in text
    assert text.endswith("instantiate_device_type_tests(T, globals())\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.ones(2)", 'torch.ones(2, device="cu" "da")'),
        ("return x + x", "return torch.compile(lambda y: y + y, backend='cudagraphs')(x)"),
        ("return x + x", "return x + use_cuda"),
        ("return x + x", "import nccl"),
        ("return x + x", "return f(x, cudnn=True)"),
        ("test_t", "test_t_cuda"),
    ],
)
def test_a_gated_test_that_says_whose_device_it_needs_does_not_take_it(old: str, new: str) -> None:
    outcome = migrate(GATED.replace(old, new), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"T": "unused-device"}


ON_DEVICE_TYPE = """\
import torch
from torch.testing._internal.common_distributed import skip_if_lt_x_gpu
from torch.testing._internal.distributed._tensor.common_dtensor import DTensorTestBase, with_comms


class T(DTensorTestBase):
    @property
    def world_size(self):
        return 2

    @with_comms
    def test_a(self):
        self.assertEqual(self.build_device_mesh().device_type, self.device_type)

    @skip_if_lt_x_gpu(2)
    @with_comms
    def test_b(self):
        self.build_device_mesh()
"""


def test_a_fixture_that_runs_on_the_device_type_of_the_class_runs_on_the_cpu_too() -> None:
    """``DTensorTestBase`` (torch 2.13 on): the CPU variant is what a host without accelerator ran, so it stays."""
    outcome = migrate(ON_DEVICE_TYPE, NAME, unsafe=True)
    check_invariants(outcome, NAME, unsafe=True)
    text = outcome.after.decode()
    assert "    @with_comms\n    def test_a(self, device):\n" in text
    assert "    @onlyAccelerator\n    @skip_if_lt_x_gpu(2)\n    @with_comms\n    def test_b(self, device):\n" in text
    assert text.endswith("\n\n\ninstantiate_device_type_tests(T, globals())\n")


@pytest.mark.parametrize(
    ("body", "changed"),
    [("super().setUp()", True), ("super().tearDown()", False), ("super().setUp()\n        self.n = 1", False)],
)
def test_a_fixture_that_only_calls_that_of_the_base_is_no_fixture(body: str, changed: bool) -> None:
    """What a set-up does of its own may run on the accelerator of the host."""
    before = ON_DEVICE_TYPE.replace("    @property\n", f"    def setUp(self):\n        {body}\n\n    @property\n")
    assert migrate(before, NAME, unsafe=True).changed == changed


def test_a_back_end_of_no_device_says_nothing_about_where_the_fixture_runs() -> None:
    before = ON_DEVICE_TYPE.replace(
        "def world_size(self):\n        return 2", "def backend(self):\n        return 'gloo'"
    )
    assert "instantiate_device_type_tests(T, globals())" in checked(before, NAME, unsafe=True)


COUNTS = "count = torch.cuda.device_count()\n        return count if count > 4 else 4"


def test_a_number_of_processes_that_hangs_on_the_host_is_what_it_was() -> None:
    """The tests ran with it, whichever it is."""
    text = checked(ON_DEVICE_TYPE.replace("return 2", COUNTS), NAME, unsafe=True)
    assert COUNTS in text and "instantiate_device_type_tests(T, globals())" in text


@pytest.mark.parametrize(
    "body", [COUNTS.replace("count if", "'gloo' if"), "return 'gloo' if torch.cuda.is_available() else 'mpi'"]
)
def test_what_else_hangs_on_the_host_is_left(body: str) -> None:
    before = ON_DEVICE_TYPE.replace("def world_size(self):\n        return 2", f"def backend(self):\n        {body}")
    outcome = migrate(before, NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "unknown-gate"}


def test_a_fixture_of_the_accelerator_is_not_run_on_the_cpu_beside_one() -> None:
    """On a host without accelerator the test ran on the CPU; the CPU variant beside one would meet its fixture."""
    source = FIXTURE_ALONE.replace("    @skip_if_lt_x_gpu(2)\n", "").replace(
        "self._run(", "if torch.cuda.is_available():\n            torch.ones(1).cuda()\n        self._run("
    )
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "uncertain"}
    assert any("FSDPTest may need one" in r.text for r in outcome.refusals)


@pytest.mark.parametrize(
    ("old", "new", "settings"),
    [
        ("return 2", "return torch.cuda.device_count()", {}),
        ("def world_size(self):\n        return 2", "def device_type(self):\n        return 'cpu'", {}),
        ("    @property\n", "    backend = 'gloo'\n\n    @property\n", {}),
        ("def world_size(self):\n        return 2", "def backend(self):\n        return 'nccl'", {}),
        ("DTensorTestBase", "DTensorContinuousTestBase", {}),
        ("", "", {"torch": "2.12"}),
    ],
    ids=["counts devices", "device type", "back end", "back end of one", "process group of the host", "older torch"],
)
def test_a_fixture_that_is_changed_or_asks_the_host_is_left(old: str, new: str, settings: dict[str, str]) -> None:
    outcome = migrate(ON_DEVICE_TYPE.replace(old, new), NAME, unsafe=True, **settings)
    assert not outcome.changed
    assert reasons(outcome)["T"] != "guard"


def test_a_question_to_the_device_type_of_the_class_stays() -> None:
    before = ON_DEVICE_TYPE.replace(
        "        self.build_device_mesh()\n",
        '        if self.device_type == "cuda":\n            self.build_device_mesh()\n',
    )
    assert '        if self.device_type == "cuda":\n' in checked(before, NAME, unsafe=True)
