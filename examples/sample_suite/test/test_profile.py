# Owner(s): ["module: sample"]
"""Device-generic by its tag and its loader, bound to one vendor by what the profiler is asked for."""

import torch
from torch.profiler import profile, ProfilerActivity
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_utils import HardwareClassification, run_tests, TestCase


class ProfileTest(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    @onlyAccelerator
    def test_an_add_is_recorded(self, device):
        x = torch.ones(8, device=device)
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recorded:
            x + x
        self.assertIn("aten::add", recorded.key_averages().table(sort_by="cuda_time_total"))


instantiate_device_type_tests(ProfileTest, globals())

if __name__ == "__main__":
    run_tests()
