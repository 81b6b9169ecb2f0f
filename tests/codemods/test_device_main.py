"""device_parameter where only the end of the file keeps tests from a host without accelerator."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
SOURCE = """\
import torch
from torch.testing._internal.common_utils import run_tests, TestCase
from torch.testing._internal.inductor_utils import GPU_TYPE, HAS_CPU, HAS_GPU


class T(TestCase):
    def test_layout(self):
        self.assertEqual(Layout(torch.device(GPU_TYPE)).size, 2)


if __name__ == "__main__":
    if HAS_GPU:
        run_tests()
"""


@pytest.mark.parametrize("condition", ["HAS_GPU", "HAS_CPU and HAS_GPU", "torch.cuda.is_available()"])
def test_the_end_of_the_file_tells_where_its_tests_ran(condition: str) -> None:
    source = SOURCE.replace("if HAS_GPU", f"if {condition}")
    text = checked(source, NAME, unsafe=True)
    assert "    @onlyAccelerator\n    def test_layout(self, device):\n" in text


def test_it_takes_somebodys_word() -> None:
    """pytest does not ask what stands there."""
    outcome = migrate(SOURCE, NAME)
    assert not outcome.changed
    assert [c.applicability for c in outcome.held] == ["unsafe"]
    assert "`if HAS_GPU` at the end of the file" in outcome.held[0].description


def test_nobody_is_asked_where_the_test_needs_its_device() -> None:
    outcome = migrate(SOURCE.replace("Layout(torch.device(GPU_TYPE))", "torch.ones(2, device=GPU_TYPE)"), NAME)
    assert [c.applicability for c in outcome.changes] == ["safe"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if HAS_GPU", "if HAS_CPU"),
        ("if HAS_GPU", "if not HAS_GPU"),
        ("if HAS_GPU", "if HAS_CPU or HAS_GPU"),
        ("        run_tests()\n", "        run_tests()\n    else:\n        run_tests()\n"),
        ("        run_tests()\n", "        run_tests()\n    run_tests()\n"),
        ("    if HAS_GPU:\n        run_tests()", "    run_tests()\n    if HAS_GPU:\n        print()"),
        ('if __name__ == "__main__"', 'def run():\n    run_tests()\n\n\nif __name__ == "__main__"'),
        ('if __name__ == "__main__":\n    if HAS_GPU:\n        run_tests()\n', ""),
    ],
)
def test_an_end_that_says_nothing_of_it(old: str, new: str) -> None:
    source = SOURCE.replace(old, new)
    assert source != SOURCE
    outcome = migrate(source, NAME, unsafe=True)
    assert outcome.after.decode() == source
    assert reasons(outcome) == {"T": "uncertain"}


XPU = """\
import torch
from torch.testing._internal.common_utils import skipIfXpu, TestCase
from torch.testing._internal.inductor_utils import GPU_TYPE


class T(TestCase):
    def test_any(self):
        torch.ones(2, device=GPU_TYPE)

    @skipIfXpu
    def test_one(self):
        torch.ones(2, device="cuda")
"""


def test_a_test_for_cuda_that_leaves_xpu_out_may_stand_beside_one_for_both() -> None:
    text = checked(XPU, NAME, unsafe=True)
    assert "    @skipIfXpu\n    def test_one(self, device):\n" in text
    assert "instantiate_device_type_tests(T, globals(), allow_xpu=True)" in text
    outcome = migrate(XPU.replace("    @skipIfXpu\n", ""), NAME, unsafe=True)
    assert reasons(outcome) == {"T": "split"}


def test_what_it_claims_of_cuda_stays() -> None:
    claims = XPU + "        self.assertTrue(torch.ones(2).isnan().any())\n"
    assert reasons(migrate(claims, NAME, unsafe=True)) == {"T": "device-claim"}
