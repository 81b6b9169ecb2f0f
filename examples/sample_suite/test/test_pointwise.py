# Owner(s): ["module: sample"]
"""Both classes inherit the shared tests, and both lose them: only a class's own tests are instantiated."""

import torch
from pointwise_cases import PointwiseCases
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import HardwareClassification, run_tests


class NegTest(PointwiseCases):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_twice_is_nothing(self, device):
        x = torch.randn(4, device=device)
        self.assertEqual(self.function(self.function(x)), x)


class AbsTest(PointwiseCases):
    function = staticmethod(torch.abs)


instantiate_device_type_tests(NegTest, globals())
instantiate_device_type_tests(AbsTest, globals())

if __name__ == "__main__":
    run_tests()
