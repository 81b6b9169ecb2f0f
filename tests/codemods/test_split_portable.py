"""split_class: tests that device_parameter can rewrite leave those behind that it cannot."""

from __future__ import annotations

import pytest

from tests.codemods.harness import check_invariants, migrate

HEAD = """\
import unittest

import torch
from torch.testing._internal.common_utils import run_tests, TEST_CUDA, TestCase


"""
TAIL = """

if __name__ == "__main__":
    run_tests()
"""
SOURCE = (
    HEAD
    + '''class RingTest(TestCase):
    """Rings."""

    size = 3

    def _make(self):
        return torch.ones(self.size)

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_sum(self):
        self.assertEqual(self._make().cuda().sum().item(), 3)

    # as text
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_text(self):
        self.assertExpectedInline(str(self._make().cuda()), """tensor([1., 1., 1.], device='cuda:0')""")

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_copy(self):
        self.assertEqual(torch.zeros(2, device="cuda").clone().sum().item(), 0)
'''
    + TAIL
)
AFTER = '''class _RingTestBase:
    size = 3

    def _make(self):
        return torch.ones(self.size)


class RingTest(_RingTestBase, TestCase):
    """Rings."""

    # as text
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_text(self):
        self.assertExpectedInline(str(self._make().cuda()), """tensor([1., 1., 1.], device='cuda:0')""")


class RingTestDevice(_RingTestBase, TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    @onlyAccelerator
    def test_sum(self, device):
        self.assertEqual(self._make().to(device).sum().item(), 3)

    @onlyAccelerator
    def test_copy(self, device):
        self.assertEqual(torch.zeros(2, device=device).clone().sum().item(), 0)


instantiate_device_type_tests(RingTestDevice, globals())
'''
OPTIONS = {"unsafe": True, "split": True, "confidence": "likely"}


def after(source: str) -> str:
    """The text below the imports after all codemods, which broke nothing that they must keep."""
    outcome = migrate(source, **OPTIONS)  # type: ignore[arg-type]
    check_invariants(outcome, **OPTIONS)
    text = outcome.after.decode()
    return text[text.index("TestCase\n\n\n") + len("TestCase\n\n\n") : text.index(TAIL.lstrip("\n"))].rstrip() + "\n"


def test_a_test_that_keeps_its_device_stays_where_it_was() -> None:
    assert after(SOURCE) == AFTER


def test_only_on_request() -> None:
    assert "RingTestDevice" not in migrate(SOURCE, unsafe=True).after.decode()
    assert "RingTestDevice" in migrate(SOURCE, split=True).after.decode()
    without = migrate(SOURCE, "split_class", "tag_class", **OPTIONS)  # type: ignore[arg-type]
    assert not without.changed  # Nothing would rewrite what leaves.


def test_generic_tests_get_a_class_without_it() -> None:
    generic = "    def test_number(self):\n        self.assertEqual(self.size, 3)\n\n"
    text = after(SOURCE.replace("    @unittest", f"{generic}    @unittest", 1))
    assert "class RingTest(_RingTestBase, TestCase):\n" in text
    parts = text.split("\n\n\nclass ")
    assert [p.partition("(")[0] for p in parts[1:]] == ["RingTest", "RingTestDevice", "RingTestPinned"]
    assert "GENERIC" in parts[1] and "test_number" in parts[1]
    assert "ACCELERATOR" in parts[2] and "test_sum" in parts[2] and "test_copy" in parts[2]
    assert "hw_classification" not in parts[3] and "test_text" in parts[3]


def test_a_doubt_keeps_both_where_they_were() -> None:
    others = (
        "    def test_number(self):\n        self.assertEqual(self.size, 3)\n\n"
        "    def test_part(self):\n        self._make()\n        if TEST_CUDA:\n            self._make()\n\n"
    )
    text = after(SOURCE.replace("    @unittest", f"{others}    @unittest", 1))
    parts = text.split("\n\n\nclass ")
    assert [p.partition("(")[0] for p in parts[1:]] == ["RingTest", "RingTestDevice"]
    assert all(name in parts[1] for name in ("test_number", "test_part", "test_text"))
    assert "hw_classification" not in parts[1]


def test_what_can_go_as_a_whole_is_not_split() -> None:
    text = after(SOURCE.replace("self.assertExpectedInline(str(self._make().cuda()), ", "print(self._make().cuda(), "))
    assert "Base" not in text and "instantiate_device_type_tests(RingTest, globals())\n" in text


@pytest.mark.parametrize(
    ("old", "new", "stays"),
    [
        # A test that is called by its name is gone once its class is instantiated.
        (
            "        self.assertEqual(torch",
            "        self.test_sum()\n        self.assertEqual(torch",
            ("test_sum", "test_copy"),
        ),
        # A helper that all share names the device itself.
        ("torch.ones(self.size)", 'torch.ones(self.size, device="cuda")', ("test_sum",)),
        # What stands against one stands against all.
        (
            "    def _make",
            "    def setUp(self):\n        self.x = torch.ones(1, device='cuda').half()\n\n    def _make",
            ("test_sum", "test_copy"),
        ),
        ("class RingTest(", "class RingTestDevice:\n    pass\n\n\nclass RingTest(", ("test_sum", "test_copy")),
        ("if __name__", "make_variant(RingTest)\n\nif __name__", ("test_sum", "test_copy")),
        ("if __name__", "class More(RingTest):\n    pass\n\n\nif __name__", ("test_sum", "test_copy")),
    ],
)
def test_what_stays_as_it_is(old: str, new: str, stays: tuple[str, ...]) -> None:
    assert old in SOURCE
    outcome = migrate(SOURCE.replace(old, new, 1), **OPTIONS)  # type: ignore[arg-type]
    check_invariants(outcome, **OPTIONS)
    text = outcome.after.decode()
    assert all(f"    def {name}(self):\n" in text for name in stays)
    if len(stays) == 2:
        assert "split_class" not in {c.codemod for c in outcome.changes}
