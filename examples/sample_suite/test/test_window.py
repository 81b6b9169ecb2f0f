# Owner(s): ["module: sample"]
"""A class that was written for one vendor's device, although nothing in it asks for that."""

import unittest

import torch
from torch.testing._internal.common_utils import run_tests, TEST_CUDA, TestCase


def moving_sum(x, width):
    return x.unfold(0, width, 1).sum(-1)


class WindowTest(TestCase):
    def test_on_a_list(self):
        self.assertEqual(moving_sum(torch.arange(4), 2).tolist(), [1, 3, 5])

    @unittest.skipIf(not TEST_CUDA, "needs CUDA")
    def test_matches_the_host(self):
        x = torch.arange(8.0)
        y = torch.arange(8.0, device="cuda")
        self.assertEqual(moving_sum(x.cuda(), 3), moving_sum(y, 3))
        torch.cuda.synchronize()

    @unittest.skipIf(not TEST_CUDA, "needs CUDA")
    def test_stays_on_its_device(self):
        y = moving_sum(torch.ones(4, device="cuda"), 2)
        self.assertEqual(y.device.type, "cuda")


if __name__ == "__main__":
    run_tests()
