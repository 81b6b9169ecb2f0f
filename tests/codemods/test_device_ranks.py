"""device_parameter in classes whose processes have a device each: the index is that of the rank."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"


RANKS_HEAD = """\
import torch
from torch.distributed._shard.sharding_spec import ChunkShardingSpec
from torch.testing._internal.common_distributed import skip_if_lt_x_gpu
from torch.testing._internal.distributed._shard.sharded_tensor import ShardedTensorTestBase, with_comms
"""


def in_processes(body: str) -> str:
    """The file with a test of a class whose processes have a device each."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    head = "    @with_comms\n    @skip_if_lt_x_gpu(4)\n    def test_t(self):\n"
    return f"{RANKS_HEAD}\n\nclass T(ShardedTensorTestBase):\n{head}{lines}"


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (
            'spec = ChunkShardingSpec(dim=0, placements=["rank:0/cuda:0"])\nprint(spec)',
            'spec = ChunkShardingSpec(dim=0, placements=[f"rank:0/{torch.device(device).type}:0"])\nprint(spec)',
        ),
        (
            "spec = ChunkShardingSpec(0, placements=['rank:0/cuda:0', f'rank:{n}/cuda:{n}'])\n"
            "self.assertEqual(str(spec.placements[1]), 'rank:1/cuda:1')",
            "device_type = torch.device(device).type\n"
            "spec = ChunkShardingSpec(0, placements=[f'rank:0/{device_type}:0', f'rank:{n}/{device_type}:{n}'])\n"
            "self.assertEqual(str(spec.placements[1]), f'rank:1/{device_type}:1')",
        ),
        (
            'x = torch.ones(1, device=f"cuda:{self.rank}")\n'
            'self.assertEqual(torch.device(f"cuda:{self.rank}"), x.device)\n'
            'self.assertEqual(y.device, torch.device("cuda:0"))',
            "device_type = torch.device(device).type\n"
            'x = torch.ones(1, device=f"{device_type}:{self.rank}")\n'
            'self.assertEqual(torch.device(f"{device_type}:{self.rank}"), x.device)\n'
            'self.assertEqual(y.device, torch.device(f"{device_type}:0"))',
        ),
        (
            "# both\n# of them\ntorch.ones(1).cuda()\ntorch.ones(2).cuda()",
            "device_type = torch.device(device).type\n# both\n# of them\n"
            "torch.ones(1).to(device_type)\ntorch.ones(2).to(device_type)",
        ),
        (
            "device = torch.device(self.rank)\nx = torch.ones(1, device=device).cuda()",
            "device_type = torch.device(device).type\ndevice = torch.device(self.rank)\n"
            "x = torch.ones(1, device=device).to(device_type)",
        ),
        (
            'torch.ones(1).cuda()\ntorch.distributed.new_group(backend="cpu:gloo,cuda:nccl")',
            "device_type = torch.device(device).type\ntorch.ones(1).to(device_type)\n"
            'torch.distributed.new_group(backend=f"cpu:gloo,{device_type}:'
            '{torch.distributed.get_default_backend_for_device(device_type)}")',
        ),
        (
            "x = torch.ones(1).cuda(torch.distributed.get_rank())\nself.assertEqual(x.numel(), 1)",
            "x = torch.ones(1).to(torch.device(torch.device(device).type, torch.distributed.get_rank()))\n"
            "self.assertEqual(x.numel(), 1)",
        ),
        (
            'device = f"cuda:{self.rank}"\ntorch.ones(1, device=device)',
            'device = f"{torch.device(device).type}:{self.rank}"\ntorch.ones(1, device=device)',
        ),
        (
            'device = "cuda"\ntorch.ones(1, device=device)',
            "device = torch.device(device).type\ntorch.ones(1, device=device)",
        ),
    ],
)
def test_each_process_keeps_its_own_index(body: str, after: str) -> None:
    lines = "".join(f"        {line}\n" for line in after.split("\n"))
    assert f"    def test_t(self, device):\n{lines}" in checked(in_processes(body), NAME, unsafe=True)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("torch.ones(1).cuda(torch.distributed.get_rank(self.group))", "device-count"),
        ("if self.rank:\n    device = self.rank\ntorch.ones(1).cuda()", "name-taken"),
        ("print(lambda: device)\ndevice = self.rank\ntorch.ones(1).cuda()", "name-taken"),
        ("device = self.rank\ndevice_type = device\ntorch.ones(1).cuda()", "name-taken"),
        ('torch.ones(1).cuda()\nself.other(backend="cpu:gloo,cuda:nccl")', "device-claim"),
        ('print(ChunkShardingSpec(0, placements=["rank:0/" "cuda:0"]))', "layout"),
        ('print(ChunkShardingSpec(0, placements=["""rank:0/cuda:0"""]))', "layout"),
        ('x = torch.ones(1).cuda()\nprint(str(x.device) == f"cuda:{self.rank}")', "comparison"),
        ('x = torch.ones(1).cuda()\nself.assertIn("cuda:0", str(x.device))', "comparison"),
        ('x = torch.ones(1).cuda()\nif x.device == torch.device("cuda:0"):\n    print(x)', "comparison"),
    ],
)
def test_what_else_names_the_device_of_a_process_stays(body: str, reason: str) -> None:
    outcome = migrate(in_processes(body), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"T": reason}
