"""What a helper of the module is passed: the device, or its bare type where it is used as more than a device."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked

HEAD = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase
from torch.testing._internal.triton_utils import requires_gpu


"""
GATE = '    @unittest.skipIf(not TEST_CUDA, "no CUDA")\n'
HELPERS = """\
    def _same(self, device, x=None):
        x = torch.ones(1, device=device)
        self.assertEqual(x.device.type, device)

    def _text(self, n, device):
        self.assertIn(f"on {device}", str(n))

    def _ones(self, n, device):
        return torch.ones(n, device=device)

    def _passes(self, device):
        self._same(x=1, device=device)
"""


def call_after(call: str, members: str = HELPERS, base: str = "TestCase", above: str = "") -> str:
    source = f"{HEAD}{above}class T({base}):\n{members}\n{GATE}    def test_t(self):\n        {call}\n"
    text = checked(source, "device_parameter", unsafe=True)
    return text.partition("def test_t(self, device):\n        ")[2].partition("\n")[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('self._same("cuda")', "self._same(torch.device(device).type)"),
        ('self._same(device="cuda")', "self._same(device=torch.device(device).type)"),
        ('self._text(1, "cuda")', "self._text(1, torch.device(device).type)"),
        ('self._passes("cuda")', "self._passes(torch.device(device).type)"),
        ('self._ones(1, "cuda")', "self._ones(1, device)"),
        ('self._ones(1, "cuda:0")', "self._ones(1, device)"),
    ],
)
def test_a_helper_gets_what_it_got(before: str, after: str) -> None:
    assert call_after(before) == after


def test_a_helper_of_a_base_in_the_module() -> None:
    above = f"class _Base:\n{HELPERS}\n\n"
    assert call_after('self._same("cuda")', "", "_Base, TestCase", above) == "self._same(torch.device(device).type)"
    assert call_after('self._ones(1, "cuda")', "", "_Base, TestCase", above) == "self._ones(1, device)"


def test_a_program_in_a_text_may_compile() -> None:
    program = 'text = f"@torch.compile()\\ndef f(x): ...\\nf({device!r})"'
    members = f"    def _run(self, device):\n        {program}\n        self.run_text(text)\n"
    test = '    @requires_gpu\n    def test_t(self):\n        self._run("cuda")\n'
    source = f"{HEAD}class T(TestCase):\n{members}\n{test}"
    for text in (checked(source, "device_parameter", unsafe=True), checked(source, unsafe=True, confidence="likely")):
        head = "    @onlyAccelerator\n    @requires_gpu\n    def test_t(self, device):\n"
        assert f"{head}        self._run(torch.device(device).type)\n" in text


def test_a_test_of_an_instantiated_class_passes_it_as_well() -> None:
    test = '    @onlyCUDA\n    def test_t(self, device):\n        self._same("cuda")\n        self._ones(1, "cuda")\n'
    source = f"{HEAD}class T(TestCase):\n{HELPERS}\n{test}\n\ninstantiate_device_type_tests(T, globals())\n"
    names = "from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA\n"
    source = source.replace(
        "from torch.testing._internal.common_utils", f"{names}from torch.testing._internal.common_utils", 1
    )
    text = checked(source, "device_parameter", unsafe=True)
    assert "        self._same(torch.device(device).type)\n        self._ones(1, device)\n" in text
