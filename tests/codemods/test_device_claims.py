"""Which words of a test say something about one vendor's device."""

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
        y = torch.ones(2, device="cuda")
"""


@pytest.mark.parametrize(
    "said",
    [
        "self.assertFalse(torch.isnan(y).any())",
        "self.assertFalse(y.isnan().any().item())",
        "self.assertTrue(not torch.isnan(y).any())",
        'assert not y.isnan().any().item(), "sum"',
    ],
)
def test_that_a_result_has_no_nan_holds_on_every_device(said: str) -> None:
    text = checked(f"{HEAD}        {said}\n", NAME, unsafe=True)
    assert f"y = torch.ones(2, device=device)\n        {said}\n" in text


@pytest.mark.parametrize(
    "said",
    [
        "self.assertTrue(torch.isnan(y).any())",
        "self.assertFalse(not torch.isnan(y).any())",
        "self.assertFalse(torch.isnan(y).all())",
        "self.assertFalse(torch.isnan(y)[0])",
        "assert y.isnan().any()",
        "self.assertEqual(torch.isnan(y), torch.isnan(y.cpu()))",
        "if not torch.isnan(y).any():\n            y = y + 1",
        'self.assertFalse(torch.isnan(y).any(), "nan in cudnn")',
    ],
)
def test_where_nans_are_is_a_claim(said: str) -> None:
    outcome = migrate(f"{HEAD}        {said}\n", NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"T": "device-claim"}
