"""device_parameter, where a test is parametrized over devices: it takes them from its instantiation instead."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
PARAMETRIZED = """\
import torch
from torch.testing._internal.common_utils import instantiate_parametrized_tests, parametrize, TestCase

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


class T(TestCase):
    @parametrize("device", ["cpu", "cuda"])
    @parametrize("n", [1, 2])
    def test_k(self, device, n):
        torch.ones(n, device=device)

    # all of them
    @parametrize("device", DEVICES)
    def test_l(self, device):
        torch.ones(1, device=device)

    @parametrize("n", [1, 2])
    @parametrize("device", ["cuda"])
    def test_m(self, n, device):
        torch.ones(n, device=device)


instantiate_parametrized_tests(T)
"""


def test_a_parametrization_over_devices_goes() -> None:
    after = PARAMETRIZED.replace('    @parametrize("device", ["cpu", "cuda"])\n', "")
    after = after.replace('    @parametrize("device", DEVICES)\n', "").replace(
        '    @parametrize("device", ["cuda"])\n', ""
    )
    after = after.replace(
        '    @parametrize("n", [1, 2])\n    def test_m',
        '    @onlyAccelerator\n    @parametrize("n", [1, 2])\n    def test_m',
    )
    after = after.replace("instantiate_parametrized_tests(T)", "instantiate_device_type_tests(T, globals())")
    new = "from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator\n"
    assert checked(PARAMETRIZED, NAME, unsafe=True) == after.replace("import torch\n", f"import torch\n{new}", 1)
    outcome = migrate(PARAMETRIZED, NAME, unsafe=True)
    fates = {
        (e.before.name if e.before else "", e.after.name)
        for e in outcome.manifest.entries
        if e.after and e.fate == "renamed"
    }
    assert ("test_k_device_cpu_n_1", "test_k_n_1_cpu") in fates


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["cpu", "cuda"]', '["cpu", "cuda:1"]'),
        ('["cpu", "cuda"]', '["cpu", "meta"]'),
        ('["cpu", "cuda"]', "devices()"),
        ('"device", ["cpu", "cuda"]', '"device,m", [("cpu", 1)]'),
        ('["cpu", "cuda"])', '["cpu", "cuda"], name_fn=str)'),
        ('["cuda"]', '["cpu"]'),
    ],
)
def test_a_parametrization_that_stays(old: str, new: str) -> None:
    outcome = migrate(PARAMETRIZED.replace(old, new, 1), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome)["T"] in ("parametrized", "split", "uncertain")


@pytest.mark.parametrize(
    "body", ["self.assertEqual(torch.ones(n, device=device).device.type, device)", "with torch.autocast(device): pass"]
)
def test_a_device_that_is_more_than_a_place_stays_in_the_list(body: str) -> None:
    """The list had 'cuda', where the loader passes 'cuda:0' (pytorch/pytorch#190525)."""
    outcome = migrate(PARAMETRIZED.replace("torch.ones(n, device=device)", body, 1), NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "parametrized"}
