"""device_parameter, where two tests are one but for the device: a test for the CPU and its twin for CUDA."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
TWINS = """\
import unittest
import torch
from torch.testing._internal.common_cuda import TEST_CUDA
from torch.testing._internal.common_utils import TestCase


class T(TestCase):
    def _check(self, device):
        self.assertEqual(torch.ones(2, device=device).sum(), 2)

    def test_sum_cpu(self):
        self._check("cpu")

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_sum_cuda(self):
        self._check("cuda")
"""


def test_one_test_does_what_both_did() -> None:
    text = checked(TWINS, NAME, unsafe=True)
    assert text.partition("class T(TestCase):\n")[2] == (
        """\
    def _check(self, device):
        self.assertEqual(torch.ones(2, device=device).sum(), 2)

    def test_sum(self, device):
        self._check(device)


instantiate_device_type_tests(T, globals())
"""
    )
    outcome = migrate(TWINS, NAME, unsafe=True)
    fates = {(e.fate, e.device, e.before.name, e.after.name) for e in outcome.manifest.entries if e.before and e.after}
    assert fates == {
        ("renamed", "cpu", "test_sum_cpu", "test_sum_cpu"),
        ("renamed", "cuda", "test_sum_cuda", "test_sum_cuda"),
    }
    assert not outcome.manifest.lost


def test_the_twin_that_goes_may_stand_anywhere() -> None:
    cpu = (
        "    def test_mul_cpu_small(self):\n"
        '        x = torch.ones(2).to("cpu")\n        self.assertEqual(x * 2, x + x)\n'
    )
    gpu = (
        '    @unittest.skipIf(not TEST_CUDA, "no CUDA")\n'
        "    def test_mul_gpu_small(self):\n        x = torch.ones(2).cuda()\n        self.assertEqual(x * 2, x + x)\n"
    )
    head, _, rest = TWINS.partition("    def _check")
    for source in (f"{TWINS}\n{gpu}\n{cpu}", f"{head}{cpu}\n{gpu}\n    def _check{rest}"):
        text = checked(source, NAME, unsafe=True)
        assert "    def test_mul_small(self, device):\n        x = torch.ones(2).to(device)\n" in text
        assert "_cpu" not in text and "\n\n\n\n" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('self._check("cpu")', 'self._check("cpu")\n        print(1)'),
        ('self._check("cpu")', 'self._check("cpu")  # the host'),
        ('self._check("cuda")', 'self._check("cuda:1")'),
        ('self._check("cuda")', 'self._check("cuda" if self else "cpu")'),
        ("    def test_sum_cpu", "    @slowTest\n    def test_sum_cpu"),
        ("def test_sum_cpu", "def test_add_cpu"),
        ("def _check", "def test_sum(self):\n        pass\n\n    def _check"),
    ],
    ids=["body", "comment", "index", "both", "decorator", "name", "name taken"],
)
def test_tests_that_differ_stay_two(old: str, new: str) -> None:
    outcome = migrate(TWINS.replace(old, new), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome)["T"] in ("split", "mixed-devices")


def test_a_third_of_the_kind_stays_what_it_is() -> None:
    third = (
        '\n    @unittest.skipIf(not TEST_CUDA, "no CUDA")\n    def test_sum_gpu(self):\n        self._check("cuda")\n'
    )
    text = checked(TWINS + third, NAME, unsafe=True)
    assert text.count("def test_sum(self, device)") == 1
    assert "    @onlyAccelerator\n    def test_sum_gpu(self, device):\n" in text


@pytest.mark.parametrize("use", ["self.test_sum_cpu()", 'print("test_sum_cuda")'])
def test_twins_that_something_names_stay_two(use: str) -> None:
    outcome = migrate(TWINS + f"\n    def _all(self):\n        {use}\n", NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "split"}


def test_a_gate_that_asks_for_more_keeps_both() -> None:
    source = TWINS.replace("not TEST_CUDA", "not SM80OrLater").replace("import TEST_CUDA", "import SM80OrLater")
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"T": "compound-gate"}


def test_a_split_leaves_twins_together() -> None:
    more = '\n    def test_words(self):\n        self.assertEqual("a b".split(), ["a", "b"])\n'
    text = checked(TWINS + more, unsafe=True, split=True, confidence="likely")
    assert "class T(TestCase):\n    hw_classification = HardwareClassification.GENERIC\n" in text
    _, _, device = text.partition("class TDevice(TestCase):\n")
    assert "    def test_sum(self, device):\n        self._check(device)\n" in device
    assert "_cpu" not in text
