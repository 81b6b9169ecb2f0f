# Owner(s): ["module: sample"]
"""A collective that any backend has, asked of one; every rank should sit on its own device."""

import torch
import torch.distributed as dist
from torch.testing._internal.common_distributed import MultiProcessTestCase, requires_nccl, skip_if_lt_x_gpu
from torch.testing._internal.common_utils import run_tests


class AllReduceTest(MultiProcessTestCase):
    def setUp(self):
        super().setUp()
        self._spawn_processes()

    @requires_nccl()
    @skip_if_lt_x_gpu(2)
    def test_sum(self):
        store = dist.FileStore(self.file_name, self.world_size)
        dist.init_process_group("nccl", rank=self.rank, world_size=self.world_size, store=store)
        x = torch.ones(2, device=f"cuda:{self.rank}")
        dist.all_reduce(x)
        self.assertEqual(x, torch.full((2,), float(self.world_size), device=x.device))


if __name__ == "__main__":
    run_tests()
