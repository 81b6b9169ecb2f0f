"""Samples of the codemods that rewrite bodies, in the way of samples.py."""

from __future__ import annotations

HEAD = """\
import unittest
import torch
from torch.testing._internal.common_device_type import (
    instantiate_device_type_tests,
    onlyAccelerator,
    onlyCUDA,
)
from torch.testing._internal.common_utils import (
    run_tests,
    TEST_CUDA,
    TestCase,
)
"""
PLAIN_HEAD = HEAD.replace(
    """\
from torch.testing._internal.common_device_type import (
    instantiate_device_type_tests,
    onlyAccelerator,
    onlyCUDA,
)
""",
    "",
)
MODEL = """\
class Model(torch.nn.Module):
    def __init__(self, size=2):
        super().__init__()
        self.bias = torch.ones(size, device="cuda")

    def forward(self, x):
        return x + self.bias

    def example(self, size):
        return torch.ones(size, device="cuda")
"""
"""A class of the module that names the device where it is made, and where it is asked."""

DEVICE_SAMPLES: dict[str, str] = {
    "device_parameter": PLAIN_HEAD
    + '''

class AddTest(TestCase):
    """Sums."""

    def setUp(self):
        super().setUp()
        self.one = torch.ones(1, device="cuda")

    def _sum(self, count):
        return torch.ones(count).cuda().sum()

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_add(self):
        device = "cuda"
        self.assertEqual(torch.ones(3, device=device).sum(), self._sum(3))

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_type(self):
        self.assertEqual(torch.ones(3).to("cuda:0").device.type, "cuda")


if __name__ == "__main__":
    run_tests()
''',
    "skip_gates": HEAD
    + """

class MulTest(TestCase):
    @onlyCUDA
    def test_mul(self, device):
        self.assertEqual(torch.ones(2, device=device) * 2, 2)

    @unittest.skipIf(torch.version.hip, "fine")
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    @onlyCUDA
    def test_div(self, device):
        self.assertEqual(torch.ones(2, device=device) / 1, 1)


instantiate_device_type_tests(MulTest, globals())
""",
    "accelerator_api": HEAD
    + """

class WaitTest(TestCase):
    @onlyAccelerator
    def test_wait(self, device):
        torch.cuda.synchronize(device=device)
        self.assertEqual(torch.cuda.memory_allocated(), 0)


instantiate_device_type_tests(WaitTest, globals())
""",
    "profiler_activities": HEAD
    + """

class ProfileTest(TestCase):
    @onlyAccelerator
    def test_profile(self, device):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]):
            torch.ones(2, device=device)


instantiate_device_type_tests(ProfileTest, globals())
""",
    "distributed_backend": HEAD
    + """
import torch.distributed as dist


class GroupTest(TestCase):
    @onlyAccelerator
    def test_group(self, device):
        dist.init_process_group("nccl", rank=0, world_size=1)


instantiate_device_type_tests(GroupTest, globals())
""",
    "split_devices": HEAD
    + """

class SortTest(TestCase):
    def _size(self):
        return 2

    def test_sum(self, device):
        torch.ones(self._size(), device=device)

    @onlyCUDA
    def test_jit(self, device):
        torch.cuda.jiterator._create_jit_fn(str(self._size()))


instantiate_device_type_tests(SortTest, globals())
""",
    "split_class": PLAIN_HEAD
    + '''

class CacheTest(TestCase):
    """Keys."""

    def _key(self, value):
        return str(value)

    def test_number(self):
        self.assertEqual(self._key(1), "1")

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_tensor(self):
        self.assertEqual(self._key(torch.ones(1).cuda().item()), "1.0")


if __name__ == "__main__":
    run_tests()
''',
}
