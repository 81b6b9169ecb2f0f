"""device_parameter, where a test makes tensors that are not there."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
HEAD = """\
import unittest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class T(TestCase):
"""
GATE = '    @unittest.skipIf(not TEST_CUDA, "no CUDA")\n'


def source_with(body: str, gate: str = GATE) -> str:
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    return f"{HEAD}{gate}    def test_t(self):\n{lines}"


META = 'with torch.device("meta"):\n    model = torch.nn.Linear(2, 2)\nmodel.to_empty(device="cuda")'
FAKE = "dev = torch.cuda.current_device()\nwith FakeTensorMode():\n    torch.ones(2, device=dev)"


@pytest.mark.parametrize("gate", [GATE, ""])
def test_a_model_without_memory_is_put_on_the_device(gate: str) -> None:
    """``torch.device("meta")`` is no mode that lets a host without accelerator make its tensors."""
    text = checked(source_with(META, gate), NAME, unsafe=True)
    assert '        with torch.device("meta"):\n' in text
    assert "        model.to_empty(device=device)\n" in text
    assert text.count("@onlyAccelerator") == 1


def test_a_fake_mode_that_names_no_device_itself_stays_around_what_it_holds() -> None:
    text = checked(source_with(FAKE), NAME, unsafe=True)
    assert "        dev = torch.accelerator.current_device_index()\n        with FakeTensorMode():\n" in text


@pytest.mark.parametrize(
    ("body", "gate"),
    [
        (FAKE, ""),  # It runs on a host without CUDA.
        ('mode = FakeTensorMode()\nwith mode:\n    torch.ones(2, device="cuda")', ""),
        ('with FakeTensorMode():\n    torch.ones(2, device="cuda")\ntorch.ones(2).cuda()', GATE),
        (META.replace("Linear(2, 2)", 'Linear(2, 2, device="cuda")'), GATE),
        ('fake_mode = self.mode()\nwith fake_mode, torch.device("meta"):\n    pass\ntorch.ones(2).cuda()', ""),
    ],
)
def test_what_may_be_fake_on_its_device_stays(body: str, gate: str) -> None:
    outcome = migrate(source_with(body, gate), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"T": "fake-mode"}


def test_a_single_test_of_an_instantiated_class_is_asked_the_same() -> None:
    head = source_with(META).replace(
        "import unittest\n",
        "from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA\n",
    )
    before = head.replace(GATE, "    @onlyCUDA\n").replace("test_t(self)", "test_t(self, device)")
    before += "\n\ninstantiate_device_type_tests(T, globals())\n"
    assert "        model.to_empty(device=device)\n" in checked(before, NAME)
    mixed = before.replace("Linear(2, 2)", 'Linear(2, 2, device="cuda")')
    assert reasons(migrate(mixed, NAME)) == {"T.test_t": "fake-mode"}
