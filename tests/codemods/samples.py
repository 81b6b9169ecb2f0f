"""For each codemod one plain file that it changes, for the layouts of test_adversarial to be laid over.

A line ends in ``#C`` where a comment may stand behind it; layouts put one there, or take the mark away.
"""

from __future__ import annotations

from tests.codemods.device_samples import DEVICE_SAMPLES

HEAD = """\
import unittest
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import (
    run_tests,
    TestCase,
)
"""

SAMPLES: dict[str, str] = {
    "tag_class": HEAD
    + '''

class FirstTest(TestCase):
    """Docs."""

    def test_a(self):
        self.assertEqual([], [])


class SecondTest(TestCase):
    def test_b(self):
        self.assertEqual([], [])
''',
    "test_base": HEAD.replace("    TestCase,\n", "")
    + """

class PlainTest(unittest.TestCase):
    def setUp(self):
        super().setUp()

    def test_a(self):
        self.assertEqual([], [])


if __name__ == "__main__":
    unittest.main()
""",
    "super_calls": HEAD
    + """

class BaseTest(TestCase):
    def setUp(self):
        super(BaseTest, self).setUp()
        self.x = 1

    def test_a(self, device):
        torch.ones(2, device=device).sum()


instantiate_device_type_tests(BaseTest, globals())
""",
    "class_for_device": HEAD
    + """

class PoolTest(TestCase):
    def setUp(self):
        super(PoolTest, self).setUp()

    @unittest.skipIf(not torch.cuda.is_available(), "needs cuda")
    def test_pool(self):
        torch.cuda.graph_pool_handle()

    @unittest.skipIf(not torch.cuda.is_available(), "needs cuda")
    def test_range(self):
        torch.cuda.nvtx.range_push("x")


if __name__ == "__main__":
    run_tests()
""",
    "contract_device": HEAD
    + """

class FillTest(TestCase):
    def _empty(self):
        return torch.empty(3, device=self.device_type)

    def test_zero(self):
        self.assertEqual(self._empty().zero_().sum(), 0)

    @unittest.skipIf(torch.version.hip, "slow")
    def test_ones(self, device):
        self.assertEqual(torch.ones(3, device=device).sum(), 3)


instantiate_device_type_tests(FillTest, globals())


if __name__ == "__main__":
    run_tests()
""",
    "tidy_imports": HEAD.replace("    TestCase,\n", "")
    + """

class PlainTest(unittest.TestCase):
    def test_a(self):
        self.assertEqual([], [])
""",
}
"""By codemod; a codemod that joins adds its own."""
SAMPLES.update(DEVICE_SAMPLES)

OPTIONS: dict[str, dict[str, bool]] = {
    "split_class": {"unsafe": True, "split": True},
    "split_devices": {"unsafe": True, "split": True},
}
"""What a codemod has to be asked for with, where that is more than ``--unsafe``."""

TOGETHER: dict[str, tuple[str, ...]] = {"tidy_imports": ("test_base", "tidy_imports")}
"""Codemods that have to run with it."""
