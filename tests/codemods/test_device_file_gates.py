"""device_parameter, where the module asks for a device when it is imported."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
SOURCE = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase

SIZES = [1]
NAMES = {}
if TEST_CUDA:
    import triton
    from package import kernel as made

    SIZES.append(2)
    NAMES["two"] = 2
    extra, more = 3, 4

PAIRS = list(zip(SIZES, SIZES))


def helper(size):
    return torch.ones(size)


class T(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_t(self):
        self.assertEqual(helper(2).cuda().sum(), 2)


class Other(TestCase):
    def test_other(self):
        self.assertEqual(len(PAIRS), len(SIZES))


if __name__ == "__main__":
    print(SIZES)
"""


def test_a_class_that_reads_none_of_it_does_not_mind() -> None:
    text = checked(SOURCE, NAME, unsafe=True)
    assert "    def test_t(self, device):\n        self.assertEqual(helper(2).to(device).sum(), 2)\n" in text


def test_a_setting_of_cuda_s_own_is_there_for_its_tests_as_before() -> None:
    setting = "    torch.cuda.memory._set_allocator_settings(NAMES)\n"
    text = checked(SOURCE.replace("    import triton\n", f"    import triton\n{setting}"), NAME, unsafe=True)
    assert setting in text and "    def test_t(self, device):\n" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("helper(2).cuda()", "helper(SIZES[0]).cuda()"),
        ("helper(2).cuda()", "helper(len(PAIRS)).cuda()"),
        ("helper(2).cuda()", "helper(2).cuda() + triton.one"),
        ("torch.ones(size)", "made(size)"),
        ("torch.ones(size)", "torch.ones(size + extra)"),
        ("class T(TestCase):", "class T(TestCase):\n    sizes = SIZES\n"),
        ("    @unittest.skipIf(not", "    @unittest.skipIf(NAMES, 'names')\n    @unittest.skipIf(not"),
        ("    import triton\n", "    import triton\n    register()\n"),
        ("    import triton\n", "    import triton\n    torch.set_default_dtype(torch.double)\n"),
        ("    import triton\n", "    from triton import *\n"),
        ("PAIRS = list(zip(SIZES, SIZES))", "register(SIZES)"),
        ("if TEST_CUDA:\n    import triton", "if torch.ones(1).cuda:\n    pass\nelif TEST_CUDA:\n    import triton"),
    ],
)
def test_a_class_that_may_read_it_stays(old: str, new: str) -> None:
    source = SOURCE.replace(old, new)
    assert source != SOURCE
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "import-time-gate"}
