"""device_parameter, where a device that was made with an index is held against where results are."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
HEAD = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class T(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_t(self):
        x = torch.ones(2).cuda()
"""
CURRENT = 'torch.device("cuda", torch.cuda.current_device())'
NEW = "torch.device(torch.device(device).type, torch.accelerator.current_device_index())"


def source_with(body: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize(
    "body",
    [
        f"expected = {CURRENT}\nself.assertEqual(x.device, expected)",
        f"self.assertEqual({CURRENT}, x.device)",
        f'expected = {CURRENT}\nfor y in (x, x):\n    assert y.device == expected, f"{{expected}}: {{y}}"',
        f"expected = {CURRENT}\nself.assertEqual(torch.ones(1, device=expected).device, expected)",
        f"expected = {CURRENT}\n\ndef check(y):\n    assert y.device == expected\n\ncheck(x.to(expected))",
    ],
)
def test_what_is_asserted_is_the_device_under_test(body: str) -> None:
    text = checked(source_with(body), NAME, unsafe=True)
    assert NEW in text and "cuda" not in text.partition("class T")[2]


@pytest.mark.parametrize(
    "body",
    [
        f"expected = {CURRENT}\nif x.device == expected:\n    print(x)",
        f"expected = {CURRENT}\nself.assertEqual(x.device, expected)\nexpected = x",
        f"expected = {CURRENT}\nself.assertEqual(x.device, expected)\nprint(str(expected))",
        f"expected = {CURRENT}\nself.assertNotEqual(x.device, expected)",
        f"expected = {CURRENT}\nself.assertEqual(self.device, expected)",
        f"self.assertEqual(str(x.device), str({CURRENT}))",
        'expected = torch.device("cuda")\nself.assertEqual(x.device, expected)',
    ],
)
def test_what_branches_on_it_or_reads_it_otherwise_stays(body: str) -> None:
    outcome = migrate(source_with(body), NAME, unsafe=True)
    assert not outcome.changed
    assert set(reasons(outcome)) == {"T"}


def test_a_further_device_is_none_of_the_loader() -> None:
    outcome = migrate(source_with('self.assertEqual(x.device, torch.device("cuda", 1))'), NAME, unsafe=True)
    assert reasons(outcome) == {"T": "device-count"}
