# Owner(s): ["module: sample"]
"""A device-generic class as it should be: tagged, instantiated, every test takes and uses ``device``."""

import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_utils import HardwareClassification, run_tests, TestCase


class SortingTest(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_ascending(self, device):
        x = torch.tensor([3, 1, 2], device=device)
        self.assertEqual(x.sort().values, torch.tensor([1, 2, 3], device=device))

    @onlyAccelerator
    def test_order_matches_the_host(self, device):
        x = torch.randn(16)
        self.assertEqual(x.to(device).argsort().cpu(), x.argsort())


instantiate_device_type_tests(SortingTest, globals())

if __name__ == "__main__":
    run_tests()
