"""device_parameter, where a test is a loop over the devices of the host: the loader makes a test for each."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
HEAD = """\
import torch
from torch.testing._internal.common_cuda import TEST_CUDA
from torch.testing._internal.common_device_type import get_all_device_types
from torch.testing._internal.common_utils import TestCase
"""
ALL = "get_all_device_types()"
CHOICE = '["cpu", "cuda"] if TEST_CUDA else ["cpu"]'


HELPERS = """\
    def _same(self, device, x):
        self.assertEqual(x.device.type, device)

    def _ones(self, n, device):
        return torch.ones(n, device=device).to(device)

"""


def source_with(body: str) -> str:
    lines = "".join(f"        {line}\n" if line else "\n" for line in body.split("\n"))
    return f"{HEAD}\n\nclass T(TestCase):\n{HELPERS}    def test_t(self):\n{lines}"


def test_a_helper_may_take_the_device() -> None:
    assert body_after(f"for d in {ALL}:\n    self._ones(2, d)\n    self._ones(3, device=d)") == (
        "self._ones(2, device)\nself._ones(3, device=device)"
    )


def body_after(body: str) -> str:
    text = checked(source_with(body), NAME, unsafe=True)
    assert "onlyAccelerator" not in text, "it runs on the CPU as before"
    start = text.partition("    def test_t(self, device):\n")[2]
    return "\n".join(line.removeprefix("        ") for line in start.partition("\n\n\ninstantiate_")[0].split("\n"))


@pytest.mark.parametrize(
    "listed",
    [
        ALL,
        CHOICE,
        '("cuda", "cpu") if torch.cuda.is_available() else ("cpu",)',
        '["cpu"] if not torch.cuda.is_available() else ["cpu", "cuda"]',
    ],
)
def test_the_body_is_the_test_of_each_device(listed: str) -> None:
    body = f"for device in {listed}:\n    x = torch.ones(2, device=device)  # two\n\n    self.assertEqual(x.sum(), 2)"
    assert body_after(body) == "x = torch.ones(2, device=device)  # two\n\nself.assertEqual(x.sum(), 2)"


def test_a_list_with_a_name_goes_with_the_loop_and_the_variable_is_the_parameter() -> None:
    body = f"""\
\"\"\"Sums.\"\"\"
devices = {CHOICE}
for dev in devices:
    # sum
    for n in (1, 2):
        x = torch.ones(n, device=dev)
        torch.stack(
            x.to(dev),
            lambda dev: dev,
        )"""
    assert (
        body_after(body)
        == """\
\"\"\"Sums.\"\"\"
# sum
for n in (1, 2):
    x = torch.ones(n, device=device)
    torch.stack(
        x.to(device),
        lambda dev: dev,
    )"""
    )


ABOVE = """\
import math

dtypes = [torch.float, torch.int64]
scale = 2
shape = (1, -2)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

def double(x):
    return x * scale * math.e
"""


def test_definitions_and_constants_above_the_loop_stay() -> None:
    body = """\
for dtype in dtypes:
    Net().n += 1
    double(torch.ones(shape, device=device))"""
    inner = body.replace("\n", "\n    ").replace("    Net().n += 1\n    ", "")
    after = body.replace("    Net().n += 1\n", "")
    assert body_after(f"{ABOVE}\nfor device in {ALL}:\n    {inner}") == f"{ABOVE}\n{after}"


@pytest.mark.parametrize(
    "listed",
    [
        'devices = ["cpu"]\nif TEST_CUDA:\n    devices.append("cuda")',
        'devices = ["cpu"]\nif torch.cuda.is_available():\n    devices += ["cuda"]',
        'devices = ("cpu",)\nif TEST_CUDA:\n    devices += ("cuda",)',
    ],
)
def test_a_list_that_is_put_together(listed: str) -> None:
    body = f"scale = 2\n{listed}\n\nfor device in devices:\n    torch.ones(scale, device=device)"
    assert body_after(body) == "scale = 2\ntorch.ones(scale, device=device)"


def test_blank_lines_around_the_head_of_the_loop_do_not_add_up() -> None:
    body = f"scale = 2\n\nfor device in {ALL}:\n\n    # each\n    torch.ones(scale, device=device)"
    assert body_after(body) == "scale = 2\n\n# each\ntorch.ones(scale, device=device)"
    assert body_after(body.replace("2\n\nfor", "2\nfor")) == "scale = 2\n\n# each\ntorch.ones(scale, device=device)"


def test_what_an_assertion_says_may_name_the_device() -> None:
    body = "self.assertEqual(torch.ones(2, device=device).sum(), 2, msg=f'on {device}')"
    assert body_after(f"for device in {ALL}:\n    {body}") == body


def test_a_list_of_the_cpu_alone_stays() -> None:
    source = source_with('for other in ["cpu"]:\n    torch.ones(2, device=other).to("cuda")')
    source = source.replace("    def test_t", '    @unittest.skipIf(not TEST_CUDA, "x")\n    def test_t')
    text = checked(f"import unittest\n{source}", NAME, unsafe=True)
    assert '        for other in ["cpu"]:\n            torch.ones(2, device=other).to(device)\n' in text


USE = "torch.ones(2, device=device)"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"for device in {ALL}:\n    {USE}\nprint(1)", "loop"),
        (f"print(1)\nfor device in {ALL}:\n    {USE}", "loop"),
        (f"for device in {ALL}:\n    {USE}\nelse:\n    print(1)", "loop"),
        (f"for device in {ALL}:\n    {USE}\n    if device:\n        continue", "loop"),
        (f"for device in {ALL}:\n    {USE}\n    return", "loop"),
        (f"for device in {ALL}:\n    if self.x:\n        y = {USE}\n    print(y)", "loop"),
        (f"for device in {ALL}:\n    {USE}\n    self.n += 1", "loop"),
        (f"for device in {ALL}:\n    {USE}\n    print(device)", "loop"),
        (f"for device in {ALL}:\n    {USE}\n    self.assertIn('cu', device)\n    print(f'{{device}}')", "loop"),
        (f"for device in {ALL}:\n    with torch.autocast(device):\n        {USE}", "loop"),
        (f"for device in {ALL}:\n    self.run(device_type=device)\n    {USE}", "loop"),
        (f"for device in {ALL}:\n    self.assertEqual({USE}.device.type, device)", "loop"),
        (f"for device in {ALL}:\n    self._same(device, {USE})", "loop"),
        (f"for device in {ALL}:\n    made_elsewhere(device)\n    {USE}", "loop"),
        (f"for device in {ALL}:\n    self.x = self.x + {USE}", "loop"),
        (f"for device in {ALL}:\n    device = torch.device(device)\n    {USE}", "loop"),
        (f"for device in ['cpu', 'cuda:1'] if TEST_CUDA else ['cpu']:\n    {USE}", "loop"),
        (f"devices = {CHOICE}\nfor device in devices:\n    torch.ones(len(devices), device=device)", "loop"),
        (f"for device, n in zip({ALL}, (1, 2)):\n    {USE}", "loop"),
        (f"x = torch.ones(2)\nfor device in {ALL}:\n    {USE}", "loop"),  # a turn may change it
        (f"seen = []\nfor device in {ALL}:\n    {USE}\n    seen.append(1)", "loop"),
        (f"n = 0\ndef count():\n    nonlocal n\n    n += 1\nfor device in {ALL}:\n    {USE}\n    count()", "loop"),
        (f"n = 0\nfor device in {ALL}:\n    def count():\n        nonlocal n\n        n += 1\n    {USE}", "loop"),
        (
            f"class N:\n    def add(self):\n        N.n += 1\nfor device in {ALL}:\n    {USE}\n    N().add()",
            "loop",
        ),
        (f"def make():\n    return torch.ones(2, device='cuda')\nfor device in {ALL}:\n    {USE}", "loop"),
        (f"def make():\n    return device\nfor device in {ALL}:\n    {USE}", "loop"),
        (f"n = self.n\nfor device in {ALL}:\n    {USE}", "loop"),
        (
            "devices = ['cpu']\nif TEST_CUDA:\n    devices.append('cuda')\nelse:\n    pass\n"
            f"for device in devices:\n    {USE}",
            "loop",
        ),
        (
            f"devices = ['cpu']\nif not TEST_CUDA:\n    devices.append('cuda')\nfor device in devices:\n    {USE}",
            "loop",
        ),
        (
            "devices = ['cpu']\nif TEST_CUDA:\n    devices.append('cuda')\n    devices.append('cuda:1')\n"
            f"for device in devices:\n    {USE}",
            "loop",
        ),
        (
            "devices = ['cpu']\nif TEST_CUDA:\n    devices.append('cuda')\nprint(devices)\n"
            f"for device in devices:\n    {USE}",
            "loop",
        ),
        (f"for device in {ALL}:\n    {USE}\n    self.assertEqual(1, 1, f'{{device}}')", "loop"),
        (f"for device in {ALL}:  # each\n    {USE}", "layout"),
        (f"for device in {ALL}: {USE}", "layout"),
        (f'for device in {ALL}:\n    {USE}\n    x = """a\n    b"""', "layout"),
        (f"for dev in {ALL}:\n    device = 1\n    torch.ones(device, device=dev)", "name-taken"),
    ],
)
def test_a_loop_that_is_more_stays(body: str, reason: str) -> None:
    outcome = migrate(source_with(body), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"T": reason}
