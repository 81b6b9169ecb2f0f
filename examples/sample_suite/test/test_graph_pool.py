# Owner(s): ["module: sample"]
"""Tests of a vendor's own API: tagged with its device and instantiated for it alone, or not quite."""

import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import HardwareClassification, run_tests, TestCase


class GraphPoolTest(TestCase):
    hw_classification = HardwareClassification.CUDA

    def test_handles_differ(self, device):
        self.assertNotEqual(torch.cuda.graph_pool_handle(), torch.cuda.graph_pool_handle())


class GraphCaptureTest(TestCase):
    hw_classification = HardwareClassification.CUDA

    def test_replay(self, device):
        x = torch.zeros(2, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            x += 1
        graph.replay()
        self.assertEqual(x, torch.ones(2, device=device))


instantiate_device_type_tests(GraphPoolTest, globals(), only_for="cuda")
instantiate_device_type_tests(GraphCaptureTest, globals())

if __name__ == "__main__":
    run_tests()
