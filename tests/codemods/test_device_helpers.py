"""device_parameter, where methods of other classes of the module name the device."""

from __future__ import annotations

import pytest

from tests.codemods.device_samples import MODEL
from tests.codemods.harness import check_invariants, checked, migrate, reasons

NAME = "device_parameter"
SOURCE = (
    """\
import copy
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


"""
    + MODEL
    + """\


class Other:
    pass


class A(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_a(self):
        model = Model(size=3)
        wrapped = copy.deepcopy(model)
        self.assertEqual(wrapped(wrapped.example(3)).device.type, "cuda")


class B(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_b(self):
        self.assertEqual(Model().example(2).sum(), 2)
"""
)


def test_a_class_of_the_module_gets_the_device_from_all_who_use_it() -> None:
    """Two test classes share it, and change together."""
    text = checked(SOURCE, NAME, unsafe=True)
    assert "    def __init__(self, device, size=2):\n" in text
    assert "    def example(self, device, size):\n        return torch.ones(size, device=device)\n" in text
    assert "        model = Model(device, size=3)\n" in text
    assert (
        "        self.assertEqual(wrapped(wrapped.example(device, 3)).device.type, torch.device(device).type)\n" in text
    )
    assert "        self.assertEqual(Model(device).example(device, 2).sum(), 2)\n" in text
    assert '"cuda"' not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Other:", "class Other(Model):"),
        ("class Other:", "def make():\n    return Model()\n\n\nclass Other:"),
        ("class Other:", "class Other:\n    def example(self):\n        return 1\n\n\nclass More:"),
        ("class Other:", "NAME = 'example'\n\n\nclass Other:"),
        ("Model().example(2).sum()", "Model().bias.sum(), self.given.example(2)"),
        ("Model().example(2).sum()", "Model().example(2).sum(), Model.example"),
        ("wrapped.example(3))", "list(map(wrapped.example, [3]))[0])"),
        ("wrapped = copy.deepcopy(model)", "wrapped = copy.deepcopy(model)\n        wrapped.example = print"),
        ("model = Model(size=3)", "made = Model\n        model = made(size=3)"),
        ("class Model(torch.nn.Module):", "class Model(torch.utils.data.Dataset):"),
        ("    def example(self, size):", "    @torch.no_grad()\n    def example(self, size):"),
        ("    def example(self, size):", "    def example(self, size, device=None):"),
        ("return x + self.bias", 'return x + self.bias.to("cuda")'),
        ("class Model(torch.nn.Module):", "@torch.no_grad()\nclass Model(torch.nn.Module):"),
    ],
)
def test_what_may_be_called_by_someone_else_is_left(old: str, new: str) -> None:
    source = SOURCE.replace(old, new)
    assert source != SOURCE
    outcome = migrate(source, NAME, unsafe=True)
    check_invariants(outcome, NAME, unsafe=True)
    assert not outcome.changed
    assert set(reasons(outcome).values()) <= {"shared-helper", "unknown-caller"}
    assert set(reasons(outcome)) >= {"A"}


def test_a_class_that_another_file_imports_is_left() -> None:
    other = {"test/test_other.py": "from test_sample import Model\n"}
    outcome = migrate(SOURCE, NAME, unsafe=True, files=other)
    assert not outcome.changed and reasons(outcome) == {"A": "shared-helper", "B": "shared-helper"}


def test_both_test_classes_stay_where_one_of_them_cannot_change() -> None:
    source = SOURCE.replace("def test_b(self):\n", "def test_b(self):\n        print(B)\n")
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed
    assert set(reasons(outcome)) == {"A", "B"}


BASE = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class Base(TestCase):
    def _run(self, size):
        return torch.ones(size, device="cuda")


class A(Base):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_a(self):
        self.assertEqual(self._run(2).sum(), 2)


class B(Base):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_b(self):
        self.assertEqual(self._run(3).sum(), 3)
"""


def test_a_base_in_the_module_gets_the_device_from_all_that_derive_from_it() -> None:
    text = checked(BASE, NAME, unsafe=True)
    assert "    def _run(self, device, size):\n        return torch.ones(size, device=device)\n" in text
    assert "self._run(device, 2)" in text and "self._run(device, 3)" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self._run(3).sum()", "self.all(self._run)"),
        ("class B(Base):\n", "class B(Base):\n    def _run(self, size):\n        return super()._run(size)\n\n"),
        ("class B(Base):\n", "class C(TestCase):\n    def test_c(self):\n        Base()._run(2)\n\n\nclass B(Base):\n"),
        ("    def _run(self, size):", "    @property\n    def _run(self):"),
        ("    def _run(self, size):", "    def setUp(self):\n        self._run(1)\n\n    def _run(self, size):"),
    ],
)
def test_a_base_that_is_used_otherwise_is_left(old: str, new: str) -> None:
    source = BASE.replace(old, new)
    assert source != BASE
    outcome = migrate(source, NAME, unsafe=True)
    check_invariants(outcome, NAME, unsafe=True)
    assert "A" in reasons(outcome) and "test_a(self, device)" not in outcome.after.decode()


SHARED = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


def ones(size):
    return torch.ones(size, device="cuda")


class A(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_a(self):
        self.assertEqual(ones(2).sum(), 2)


class B(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_b(self):
        self.assertEqual(ones(3).sum(), 3)
"""


def test_a_function_of_the_module_gets_the_device_from_two_classes() -> None:
    text = checked(SHARED, NAME, unsafe=True)
    assert "def ones(device, size):\n    return torch.ones(size, device=device)\n" in text
    assert "ones(device, 2)" in text and "ones(device, 3)" in text


def test_two_classes_that_name_the_device_in_different_ways_share_nothing() -> None:
    """In processes of their own a bare type is passed, else the device with its index."""
    head = "from torch.testing._internal.common_distributed import MultiProcessTestCase\n"
    source = head + SHARED.replace("class B(TestCase)", "class B(MultiProcessTestCase)")
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed and set(reasons(outcome).values()) <= {"shared-helper", "unknown-caller"}


def test_a_helper_that_counts_devices_needs_none() -> None:
    source = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


def per_rank(size):
    return torch.cuda.device_count() // size


class Counter:
    def __init__(self):
        self.count = torch.cuda.device_count()


class A(TestCase):
    def _first(self):
        return per_rank(2) + Counter().count

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_a(self):
        self.assertEqual(torch.ones(self._first(), device="cuda").numel(), per_rank(2))


print(per_rank(1))
"""
    text = checked(source, NAME, unsafe=True)
    assert "def per_rank(size):\n    return torch.accelerator.device_count() // size\n" in text
    assert "    def __init__(self):\n        self.count = torch.accelerator.device_count()\n" in text
    assert "    def _first(self):\n        return per_rank(2) + Counter().count\n" in text
    assert "torch.ones(self._first(), device=device).numel(), per_rank(2))" in text
