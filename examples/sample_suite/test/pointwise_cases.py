"""Tests that several files share: no test file itself, so the loader never instantiates this class here."""

import torch
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class PointwiseCases(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR
    function = staticmethod(torch.neg)

    def test_keeps_the_shape(self, device):
        x = torch.ones(2, 3, device=device)
        self.assertEqual(self.function(x).shape, x.shape)

    def test_keeps_the_device(self, device):
        x = torch.ones(2, device=device)
        self.assertEqual(self.function(x).device, x.device)
