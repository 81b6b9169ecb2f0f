"""device_parameter, and the name of the class: instantiation takes it out of the module."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
OWN_NAME = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class T(TestCase):
    size = 2

    class Model(torch.nn.Module):
        pass

    def setUp(self):
        super(T, self).setUp()

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_t(self):
        def inner():
            return T.Model()

        self.assertEqual(torch.ones(T.size, device="cuda").numel(), T.size, inner())
"""


def test_a_class_reaches_what_is_its_own_without_its_name() -> None:
    """The loader takes the name out of the module, and copies nested classes and attributes."""
    text = checked(OWN_NAME, NAME, unsafe=True)
    assert "        super().setUp()\n" in text
    assert "            return self.Model()\n" in text
    assert "self.assertEqual(torch.ones(self.size, device=device).numel(), self.size, inner())\n" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return T.Model()", "return T.helper()"),
        ("return T.Model()", "return T"),
        ("T.size, inner())", "T.size, inner())\n        self.size = 1"),
        ("T.size, inner())", "T.size, inner())\n        T.size += 1"),
        ("def inner():", "def inner(self):"),
        ("        pass\n", "        def forward(self):\n            return T.size\n"),
    ],
)
def test_any_other_use_of_its_name_stands_against_it(old: str, new: str) -> None:
    source = OWN_NAME.replace(old, new)
    assert source != OWN_NAME
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "name-used-later"}


@pytest.mark.parametrize(
    "other", ["from test_sample import T\n", "from test_sample import *\n", "import test_sample\n", "import torch\n"]
)
def test_a_class_that_another_file_may_read_keeps_its_name(other: str) -> None:
    """Also where the module is imported as a whole: ``test_sample.T`` would be gone."""
    outcome = migrate(OWN_NAME, NAME, unsafe=True, files={"test/test_other.py": other})
    assert outcome.changed == (other == "import torch\n")
    assert reasons(outcome) == ({} if outcome.changed else {"T": "name-used-later"})
