"""device_parameter: the body of a test, and what in it keeps its class as it is."""

# ruff: noqa: E501  # Pairs are read side by side.

from __future__ import annotations

import pytest

from tests.codemods.device_classes import GATE, body_after, change, class_with, refusal


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('torch.ones(2, device="cuda")', "torch.ones(2, device=device)"),
        ("torch.ones(2, device='cuda:0')", "torch.ones(2, device=device)"),
        ("(x + y).cuda()", "(x + y).to(device)"),
        ("x.cuda(0)", "x.to(device)"),
        ("x.cuda(non_blocking=True)", "x.to(device, non_blocking=True)"),
        ("x.cuda(device=0, non_blocking=True)", "x.to(device=device, non_blocking=True)"),
        ("x.cuda(\n)", "x.to(device)"),
        ("f(x.cuda(), y.cuda())", "f(x.to(device), y.to(device))"),
        ("x.cuda().double().cuda()", "x.to(device).double().to(device)"),
        ('torch.device("cuda", 0)', "torch.device(torch.device(device).type, 0)"),
        ('torch.ones(1, device=torch.device("cuda"))', "torch.ones(1, device=torch.device(device))"),
        ('dev = "cuda"\ntorch.ones(1, device=dev)', "dev = device\ntorch.ones(1, device=dev)"),
        ('device = torch.device("cuda")\ntorch.ones(1, device=device)', "device = torch.device(device)\ntorch.ones(1, device=device)"),
        ('for i in range(2):\n    torch.ones(1, device=f"cuda:{i}")', 'for i in range(2):\n    torch.ones(1, device=f"{torch.device(device).type}:{i}")'),
        ('x = torch.ones(1, device="cuda"); y = x.cuda()', "x = torch.ones(1, device=device); y = x.to(device)"),
        ('if (n := torch.ones(1, device="cuda").numel()) > 1: pass', "if (n := torch.ones(1, device=device).numel()) > 1: pass"),
        ('make = lambda dev="cuda": torch.ones(1, device=dev)\nmake()', "make = lambda dev=device: torch.ones(1, device=dev)\nmake()"),
        (
            'def inner(t):\n    return t.to("cuda")  # there\n\ninner(torch.ones(1, device="cuda"))',
            "def inner(t):\n    return t.to(device)  # there\n\ninner(torch.ones(1, device=device))",
        ),
        ('match n:\n    case 1:\n        torch.ones(1, device="cuda")', "match n:\n    case 1:\n        torch.ones(1, device=device)"),
        ("torch.cuda.synchronize()\nx.cuda()", "torch.accelerator.synchronize()\nx.to(device)"),
        ("x.cuda()\nself.assertTrue(torch.ones(1, device='cpu').cpu() is not None)", "x.to(device)\nself.assertTrue(torch.ones(1, device='cpu').cpu() is not None)"),
        ("torch.randn(\n    2,\n    device=(\n        # why\n        'cuda'\n    ),\n)", "torch.randn(\n    2,\n    device=(\n        # why\n        device\n    ),\n)"),
        ('device = "cuda" if torch.cuda.is_available() else "cpu"\nx.cuda()\ntorch.ones(1, device=device)', "x.to(device)\ntorch.ones(1, device=device)"),
        ("with self.subTest(n=1):\n    x.cuda()", "with self.subTest(n=1):\n    x.to(device)"),
    ],
)  # fmt: skip
def test_bodies(before: str, after: str) -> None:
    setup = "n = 1\nx = y = torch.ones(1)\n"
    assert body_after(setup + before) == setup + after


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('x = torch.ones(1, device="cuda:1")', "device-count"),
        ('x = torch.ones(1).cuda()\nif x.device.type == "cuda":\n    pass', "comparison"),
        ("x = torch.ones(1).cuda()\nprint(x.is_cuda)", "comparison"),
        ('torch.ones(1).cuda()\nwith self.assertRaisesRegex(RuntimeError, "on cuda"):\n    pass', "golden-text"),
        ('for device in ["cpu", "cuda"]:\n    torch.ones(1, device=device)', "loop"),
        ("torch.ones(1).cuda()\nself.assertTrue(torch.cuda.get_device_name(0))", "result-type"),
        ('torch.ones(2, device="cu" "da")', "unused-device"),
        ("device = compute()\ntorch.ones(1).cuda()", "name-taken"),
        ("def inner(device):\n    return torch.ones(1).cuda()\n\ninner(1)", "name-taken"),
        ('exec("import torch\\ntorch.ones(1).cuda()")\ntorch.ones(1).cuda()', "string-program"),
        ("import subprocess\nsubprocess.check_call(['x'])\ntorch.ones(1).cuda()", "subprocess"),
        ("torch.ones(1).cuda()\nself._testMethodName", "unknown-name"),
        ("torch.ones(1).cuda(*args)", "layout"),
        ('x = f(torch.ones(1).cuda(), "cuda")', "unknown-use"),
        ("if torch.cuda.is_available() or x:\n    torch.ones(1).cuda()\nprint(1)", "unknown-gate"),
        ("torch.ones(1).cuda()\nself.assertEqual(torch.isnan(torch.ones(1)).sum(), 0)", "device-claim"),
    ],
)  # fmt: skip
def test_bodies_that_stay(body: str, reason: str) -> None:
    found = refusal(class_with(body))
    assert found == reason


@pytest.mark.parametrize(
    "body",
    [
        'torch.get_autocast_dtype(device_type="cuda")',
        'torch.device("cuda")',
        "with self.assertRaises(RuntimeError):\n    torch.ones(1).cuda()",
        "self.assertRaises(RuntimeError, lambda: torch.ones(1).cuda())",
        'try:\n    torch.ones(1, device="cuda")\nexcept RuntimeError:\n    pass',
        'FixedLayout(device=torch.device("cuda"))',
        'device = torch.device("cuda")\nif self.big:\n    torch.ones(1, device=device)',
    ],
)
def test_what_needs_no_device_does_not_keep_a_test_off_the_cpu(body: str) -> None:
    ungated = class_with(body).replace(f"    {GATE}\n", "")
    assert refusal(ungated) == "uncertain"


@pytest.mark.parametrize(
    "body",
    [
        'torch.ones(1, device="cuda")',
        'torch.ones(1).to("cuda")',
        'device = torch.device("cuda")\nfor _ in range(2):\n    torch.ones(1, device=device)',
        "with torch.no_grad():\n    torch.ones(1).cuda()",
        'with torch.device("cuda"):\n    torch.ones(1)',
        "torch.cuda.synchronize()",
    ],
)
def test_what_needs_the_device_keeps_a_test_off_the_cpu(body: str) -> None:
    text = change(class_with(body).replace(f"    {GATE}\n", ""))
    assert "    @onlyAccelerator\n    def test_t(self, device):\n" in text


def test_the_first_device_of_a_type_is_that_of_the_loader() -> None:
    body = 'x = torch.ones(1).cuda()\nself.assertEqual(str(x.device), "cuda:0")'
    assert body_after(body) == "x = torch.ones(1).to(device)\nself.assertEqual(str(x.device), device)"
