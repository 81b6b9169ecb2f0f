"""device_parameter, where a test asks the host for an accelerator in its body: the question is put to the device."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
HEAD = """\
import unittest
import torch
from torch.testing._internal.common_cuda import TEST_CUDA
from torch.testing._internal.common_utils import TestCase
"""


def source_with(body: str, members: str = "", head: str = HEAD) -> str:
    """The file with a class ``T`` whose one test has the body; ``members`` stand above it."""
    lines = _indented(body, 8)
    return f"{head}\n\nclass T(TestCase):\n{_indented(members, 4)}    def test_t(self):\n{lines}"


def _indented(text: str, width: int) -> str:
    return "".join(f"{' ' * width}{line}\n" if line else "\n" for line in text.split("\n")) if text else ""


def change(source: str) -> str:
    return checked(source, NAME, unsafe=True)


def test_a_part_for_accelerators_is_left_out_of_the_cpu_variant() -> None:
    """The other part ran wherever the test ran, so no gate comes."""
    before = source_with(
        """\
x = torch.ones(2)
if TEST_CUDA:  # the device
    y = x.to("cuda")
    torch.cuda.synchronize()
    self.assertEqual(y.device.type, "cuda")
    self.assertTrue(y.is_cuda)
    self.assertFalse(x.is_cuda, "moved")
    assert y.is_cuda
self.assertEqual(x.sum(), 2)"""
    )
    after = """\
    def test_t(self, device):
        x = torch.ones(2)
        if self.device_type != "cpu":  # the device
            y = x.to(device)
            torch.accelerator.synchronize()
            self.assertEqual(y.device.type, torch.device(device).type)
            self.assertEqual(y.device.type, torch.device(device).type)
            self.assertNotEqual(x.device.type, torch.device(device).type, "moved")
            assert y.device.type == torch.device(device).type
        self.assertEqual(x.sum(), 2)


instantiate_device_type_tests(T, globals())
"""
    text = change(before)
    assert text.endswith(after)
    assert "onlyAccelerator" not in text


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (
            "if not torch.cuda.is_available():\n    return\ntorch.ones(1).cuda()",
            'if self.device_type == "cpu":\n    return\ntorch.ones(1).to(device)',
        ),
        (
            "x = torch.ones(1)\nif not TEST_CUDA:\n    self.skipTest('no')\nx.cuda()",
            "x = torch.ones(1)\nif self.device_type == \"cpu\":\n    self.skipTest('no')\nx.to(device)",
        ),
        (
            "if not TEST_CUDA:\n    raise unittest.SkipTest('no')\nwith torch.no_grad():\n    torch.ones(1).cuda()",
            "if self.device_type == \"cpu\":\n    raise unittest.SkipTest('no')\n"
            "with torch.no_grad():\n    torch.ones(1).to(device)",
        ),
        (
            "if torch.cuda.is_available():\n    x = torch.ones(1).cuda()\nelse:\n    x = torch.ones(1)\nprint(x)",
            'if self.device_type != "cpu":\n    x = torch.ones(1).to(device)\nelse:\n    x = torch.ones(1)\nprint(x)',
        ),
        (
            "if not TEST_CUDA:\n    x = torch.ones(1)\nelse:\n    x = torch.ones(1).cuda()\nprint(x)",
            'if self.device_type == "cpu":\n    x = torch.ones(1)\nelse:\n    x = torch.ones(1).to(device)\nprint(x)',
        ),
        (
            "for n in (1, 2):\n    if torch.accelerator.is_available():\n        torch.ones(n, device='cuda')",
            'for n in (1, 2):\n    if self.device_type != "cpu":\n        torch.ones(n, device=device)',
        ),
    ],
)
def test_ways_to_ask(body: str, after: str) -> None:
    assert f"    def test_t(self, device):\n{_indented(after, 8)}" in change(source_with(body))


def test_a_helper_asks_its_own_class_and_set_up_too() -> None:
    members = """\
def setUp(self):
    super().setUp()
    if torch.cuda.is_available():
        self.x = torch.ones(1, device="cuda")

def helper(self):
    if TEST_CUDA:
        print(torch.ones(1))

def placed(self):
    if TEST_CUDA:
        torch.ones(1).cuda()
"""
    text = change(source_with("self.helper()\nself.placed()", members))
    assert 'if self.device_type != "cpu":\n            self.x = torch.ones(1, device=self.device_type)\n' in text
    assert 'def helper(self):\n        if self.device_type != "cpu":\n            print(torch.ones(1))\n' in text
    assert "def placed(self, device):\n" in text
    assert "self.helper()\n        self.placed(device)\n" in text


def test_a_set_up_that_skips_keeps_the_cpu_out() -> None:
    members = "def setUp(self):\n    super().setUp()\n    if not TEST_CUDA:\n        self.skipTest('no')\n"
    text = change(source_with("torch.ones(1).cuda()", members))
    assert "if self.device_type == \"cpu\":\n            self.skipTest('no')\n" in text
    assert "    @onlyAccelerator\n    def test_t(self, device):\n        torch.ones(1).to(device)\n" in text


ELSEWHERE = "torch.ones(1).cuda()"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"if TEST_CUDA and len('x'):\n    {ELSEWHERE}", "unknown-gate"),
        (
            f"if TEST_CUDA:\n    {ELSEWHERE}\nelif torch.xpu.is_available():\n    torch.ones(1, device='xpu')",
            "uncertain",
        ),
        (f"if TEST_CUDA:\n    {ELSEWHERE}\nelse:\n    print('cuda:1', torch.cuda.device_count())", "unknown-gate"),
        (f"there = torch.cuda.is_available()\nif there:\n    {ELSEWHERE}", "unknown-gate"),
        (f"def inner():\n    if TEST_CUDA:\n        {ELSEWHERE}\ninner()", "unknown-gate"),
        (f"if torch.cuda.device_count() > 1:\n    {ELSEWHERE}", "unknown-gate"),
        ("if TEST_CUDA:\n    self._cuda()", "uncertain"),
        (f"n = 0\nif torch.xpu.is_available():\n    n = 1\nelif TEST_CUDA:\n    n = 2\n{ELSEWHERE}", "unknown-gate"),
        (
            f"n = 0\nif TEST_CUDA:\n    n = 1\nelif torch.accelerator.is_available():\n    n = 2\n{ELSEWHERE}",
            "unknown-gate",
        ),
        (f"n = 0\nif torch.xpu.is_available():\n    n = 1\n{ELSEWHERE}", "unknown-gate"),
        (
            "try:\n    if not TEST_CUDA:\n        raise unittest.SkipTest('no')\n"
            f"except Exception:\n    pass\n{ELSEWHERE}",
            "unknown-gate",
        ),
        ("if TEST_CUDA:\n    x = torch.ones(1).cuda()\n    print(1 if x.is_cuda else 2)", "comparison"),
        (f"if TEST_CUDA:\n    {ELSEWHERE}\n    torch.cuda.get_device_capability()", "device-claim"),
    ],
)
def test_what_asks_in_another_way_stays(body: str, reason: str) -> None:
    members = "def _cuda(self):\n    torch.ones(1).cuda()\n"
    outcome = migrate(source_with(body, members), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"T": reason}


def test_what_xpu_leaves_out_it_goes_on_leaving_out() -> None:
    head = f"{HEAD}from torch.testing._internal.inductor_utils import GPU_TYPE\n"
    body = "x = torch.ones(1, device=GPU_TYPE)\nif torch.cuda.is_available():\n    print(x)"
    outcome = migrate(source_with(body, head=head), NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "unknown-gate"}


def test_what_needs_an_accelerator_anyway_gets_its_gate() -> None:
    text = change(source_with("if TEST_CUDA:\n    torch.ones(1).cuda()\ntorch.cuda.synchronize()"))
    assert '    @onlyAccelerator\n    def test_t(self, device):\n        if self.device_type != "cpu":\n' in text


def test_what_a_set_up_chose_the_loader_sets_under_the_same_name() -> None:
    members = """\
def setUp(self):
    super().setUp()
    self.device_type = "cuda" if torch.cuda.is_available() else "cpu"
"""
    text = change(source_with("torch.ones(1, device=self.device_type)", members))
    assert "    def setUp(self):\n        super().setUp()\n\n    def test_t(self, device):\n" in text
    assert "        torch.ones(1, device=self.device_type)\n" in text
