"""device_parameter, where a test chooses its device by what the host has."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
HEAD = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TEST_PRIVATEUSE1, TEST_XPU, TestCase


class T(TestCase):
"""
GATE = '    @unittest.skipIf(not (TEST_CUDA or TEST_PRIVATEUSE1), "none")\n'
REGISTERED = "torch._C._get_privateuse1_backend_name()"
EITHER = f'if TEST_CUDA:\n    device = "cuda"\nelif TEST_PRIVATEUSE1:\n    device = {REGISTERED}'
WITH_CPU = f'{EITHER}\nelse:\n    device = "cpu"'
USE = "x = torch.ones(2, device=device)\nself.assertEqual(x.device.type, device)"


def source_with(body: str, gate: str = GATE) -> str:
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    return f"{HEAD}{gate}    def test_t(self):\n{lines}"


def body_after(body: str, gate: str = GATE) -> str:
    text = checked(source_with(body, gate), NAME, unsafe=True)
    assert ("onlyAccelerator" in text) == bool(gate), text
    assert "instantiate_device_type_tests(T, globals())" in text
    rest = text.partition("    def test_t(self, device):\n")[2].partition("\n\n\ninstantiate_")[0]
    return "\n".join(line.removeprefix("        ") for line in rest.split("\n"))


def test_the_device_under_test_takes_its_place() -> None:
    assert body_after(f"y = 1\n{EITHER}\n{USE}") == f"y = 1\ndevice = torch.device(device).type\n{USE}"


def test_a_choice_with_the_cpu_runs_there_as_well() -> None:
    assert body_after(f"{WITH_CPU}\n{USE}", "") == f"device = torch.device(device).type\n{USE}"
    body = 'if torch.cuda.is_available():\n    kind = "cuda"\nelse:\n    kind = "cpu"\ntorch.ones(2, device=kind)'
    assert body_after(body, "") == "kind = torch.device(device).type\ntorch.ones(2, device=kind)"


def test_it_may_run_on_the_cpu_beside_its_own() -> None:
    loop = 'for other in [device, "cpu"]:\n    torch.ones(2, device=other)'
    assert body_after(f"{EITHER}\n{loop}") == f"device = torch.device(device).type\n{loop}"


@pytest.mark.parametrize(
    ("body", "gate"),
    [
        (f"{EITHER}\n{USE}", ""),  # Without an accelerator it has no device, and fails.
        (f"print(device)\n{WITH_CPU}\n{USE}", ""),
        (f'{WITH_CPU}\ndevice = device + ":0"\n{USE}', ""),
        ('if not TEST_CUDA:\n    device = "cuda"\nelse:\n    device = "cpu"\n' + USE, ""),
        ('if TEST_CUDA:\n    device = "cuda:1"\nelse:\n    device = "cpu"\n' + USE, ""),
        ('if TEST_CUDA:\n    device = "cuda"\nelse:\n    kind = "cpu"\n' + USE, ""),
        ('if TEST_CUDA:\n    device = "cuda"\nelif TEST_XPU:\n    device = "xpu"\n' + USE, ""),
        ('if TEST_CUDA:\n    device = "cuda"\n    n = 1\nelse:\n    device = "cpu"\n' + USE, ""),
        ('if TEST_CUDA and unknown():\n    device = "cuda"\nelse:\n    device = "cpu"\n' + USE, ""),
        ('if TEST_CUDA:\n    device = "cuda"  # the first\nelse:\n    device = "cpu"\n' + USE, ""),
    ],
)  # fmt: skip
def test_another_choice_stays(body: str, gate: str) -> None:
    outcome = migrate(source_with(body, gate), NAME, unsafe=True)
    assert not outcome.changed, outcome.after.decode()
    assert list(reasons(outcome)) == ["T"]
