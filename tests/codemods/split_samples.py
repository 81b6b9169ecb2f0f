"""A class of which split_devices takes a test out."""

from __future__ import annotations

HEAD = """\
import torch
from torch.testing._internal.common_device_type import (
    dtypes,
    instantiate_device_type_tests,
    onlyAccelerator,
    onlyCPU,
    onlyCUDA,
    ops,
)
from torch.testing._internal.common_utils import run_tests, TestCase


"""
SOURCE = (
    HEAD
    + '''class SortTest(TestCase):
    """Orders."""

    sizes = (2, 3)

    def _check(self, device):
        self.assertEqual(torch.ones(self.sizes, device=device).sum().item(), 6)

    def test_sum(self, device):
        self._check(device)

    # numpy reads host memory
    @onlyCPU
    @dtypes(torch.float32)
    def test_numpy(self, device, dtype):
        self._check(device)
        self.assertEqual(torch.ones(2, device=device, dtype=dtype).numpy().sum(), 2)

    @onlyAccelerator
    def test_copy(self, device):
        torch.ones(2).to(device)


instantiate_device_type_tests(SortTest, globals(), allow_mps=True)

if __name__ == "__main__":
    run_tests()
'''
)
