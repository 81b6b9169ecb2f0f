"""split_class: which tests a part for one vendor's device may take."""

from __future__ import annotations

import pytest

from tests.codemods.harness import check_invariants, migrate, reasons

HEAD = """\
import torch
from torch.testing._internal.common_utils import run_tests, TestCase


"""
TAIL = """

if __name__ == "__main__":
    run_tests()
"""
OPTIONS = {"unsafe": True, "split": True, "confidence": "likely"}


@pytest.mark.parametrize(
    ("body", "goes"),
    [
        ("torch.cuda.nvtx.range_push('x')", True),
        ("if torch.cuda.is_available():\n            torch.cuda.nvtx.range_push('x')", True),
        ("self._make()\n        if torch.cuda.is_available():\n            torch.cuda.nvtx.range_push('x')", False),
        ("self._make()\n        self._clean()", False),
        ("torch.cuda.nvtx.range_push('x')\n        self._clean()", True),
        ("with self.assertRaises(RuntimeError):\n            torch.cuda.nvtx.mark('x')\n        self._clean()", False),
    ],
)
def test_a_test_is_one_vendors_where_it_does_nothing_elsewhere(body: str, goes: bool) -> None:
    source = (
        HEAD
        + "class RingTest(TestCase):\n    def _make(self):\n        return 1\n\n"
        + "    def _clean(self):\n        if torch.cuda.is_available():\n            torch.cuda.nvtx.range_pop()\n\n"
        + f"    def test_ring(self):\n        {body}\n\n    def test_one(self):\n        self._make()\n\n"
        + "    def test_two(self):\n        self._make()\n"
        + TAIL
    )
    outcome = migrate(source, **OPTIONS)  # type: ignore[arg-type]
    check_invariants(outcome, **OPTIONS)
    text = outcome.after.decode()
    assert ("class RingTestCudaOnly(" in text) is goes
    if not goes:
        assert not outcome.changed or "def test_ring(self):" in text
        assert reasons(outcome).get("RingTest") in ("uncertain", "split")
