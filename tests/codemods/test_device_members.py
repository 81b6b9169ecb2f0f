"""device_parameter, and static methods: the loader copies them as functions that a test then binds."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
SOURCE = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class T(TestCase):
    @staticmethod
    def _shape():
        return (2, 3)

    @staticmethod  # of a pair
    def _sum(
        a,
        b,
    ):
        return a + b

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_t(self):
        x = torch.ones(T._shape(), device="cuda")
        self.assertEqual(self._sum(x, x).shape, self._shape())
"""


def test_a_static_method_becomes_an_ordinary_one() -> None:
    text = checked(SOURCE.replace("  # of a pair", ""), NAME, unsafe=True)
    assert "    def _shape(self):\n        return (2, 3)\n" in text
    assert "    def _sum(\n        self,\n        a,\n        b,\n    ):\n" in text
    assert "        x = torch.ones(self._shape(), device=device)\n" in text
    assert "staticmethod" not in text


def test_a_comment_beside_the_decorator_is_not_lost() -> None:
    outcome = migrate(SOURCE, NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "layout"}


def test_one_that_names_the_device_asks_the_test() -> None:
    before = SOURCE.replace("  # of a pair", "").replace("return a + b", 'return a + b + torch.ones(3, device="cuda")')
    text = checked(before, NAME, unsafe=True)
    assert "        return a + b + torch.ones(3, device=self.device_type)\n" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self._shape())\n", "list(map(self._sum, [x], [x])))\n"),
        ("self._shape())\n", "self._shape(), getattr(self, '_sum'))\n"),
        ("        a,\n", "        self,\n"),
        ("        return a + b", "        return self.a + b"),
        ("        a,\n        b,\n", "        a,\n        /,\n        b,\n"),
        ("class T(TestCase):", "def other(t):\n    return t._sum(1, 2)\n\n\nclass T(TestCase):"),
        ("    @staticmethod\n    def _shape", "    @staticmethod\n    @torch.no_grad()\n    def _shape"),
        ("    @staticmethod\n    def _shape", "    @classmethod\n    def _shape"),
        ("    @staticmethod\n    def _shape():", "    @staticmethod\n    def __call__():"),
        ("T._shape()", "(lambda self: self._shape())(self)"),
    ],
)
def test_what_else_may_call_it_stands_against_it(old: str, new: str) -> None:
    source = SOURCE.replace("  # of a pair", "").replace(old, new)
    assert old in SOURCE
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "class-member"}


PINNED = """\
import torch
from torch._inductor.test_case import TestCase
from torch.testing._internal.inductor_utils import GPU_TYPE


class T(TestCase):
    device_type = GPU_TYPE
    device = GPU_TYPE
    size = 2

    def test_t(self):
        x = torch.ones(self.size, device=GPU_TYPE)
        self.assertEqual(x.to(self.device_type).device.type, GPU_TYPE)
"""


def test_attributes_that_pin_the_device_go() -> None:
    """The loader would copy them over what it sets."""
    text = checked(PINNED, NAME, unsafe=True)
    assert "class T(TestCase):\n    size = 2\n" in text
    assert "        x = torch.ones(self.size, device=device)\n" in text
    assert "GPU_TYPE" not in text.partition("class T")[2]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x.to(self.device_type)", "x.to(self.device)"),
        ("x.to(self.device_type)", "x.to(T.device)"),
        ("    device_type = GPU_TYPE\n", "    device_type = GPU_TYPE if GPU_TYPE else 'cpu'\n"),
        ("    device_type = GPU_TYPE\n", "    devices = [GPU_TYPE]\n"),
        ("    device_type = GPU_TYPE\n", "    device_type = name = GPU_TYPE\n"),
        ("from torch._inductor.test_case", "from torch.testing._internal.common_fsdp"),
    ],
)
def test_other_attributes_that_name_a_device_stand_against_it(old: str, new: str) -> None:
    source = PINNED.replace(old, new).replace(
        "import TestCase", "import FSDPTest" if "fsdp" in new else "import TestCase"
    )
    source = source.replace("class T(TestCase)", "class T(FSDPTest)") if "fsdp" in new else source
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "shared-helper"}


IN_A_BASE = PINNED.replace("class T(TestCase):\n    device_type", "class Base:\n    device_type").replace(
    "    size = 2\n", "    size = 2\n\n\nclass T(Base, TestCase):"
)


def test_attributes_of_a_base_stay_behind_the_base_of_the_loader() -> None:
    text = checked(IN_A_BASE, NAME, unsafe=True)
    assert "class Base:\n    device_type = GPU_TYPE\n    device = GPU_TYPE\n" in text
    assert "        x = torch.ones(self.size, device=device)\n" in text


@pytest.mark.parametrize("old", ["x.to(self.device_type)", "self.size"])
def test_an_attribute_of_a_base_that_is_read_stands_against_it(old: str) -> None:
    outcome = migrate(IN_A_BASE.replace(old, "x.to(self.device)"), NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "shared-helper"}


CLASS_METHOD = """\
import unittest
import torch
from torch.testing._internal.common_distributed import MultiProcessTestCase
from torch.testing._internal.common_utils import TEST_CUDA


class T(MultiProcessTestCase):
    @classmethod
    def backend_str(cls) -> str:
        return "nccl"

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_t(self):
        torch.ones(2).cuda()
"""


def test_a_class_method_that_nothing_calls_stays_as_it_is() -> None:
    text = checked(CLASS_METHOD, NAME, unsafe=True)
    assert '    @classmethod\n    def backend_str(cls) -> str:\n        return "nccl"\n' in text
    assert text.endswith("instantiate_device_type_tests(T, globals())\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.ones(2)", "torch.ones(len(self.backend_str()))"),
        ("torch.ones(2)", "torch.ones(len(getattr(self, 'backend_str')()))"),
        ("class T(", "def make(cls):\n    return cls.backend_str()\n\n\nclass T("),
        ("(MultiProcessTestCase)", "(MultiProcContinousTest)"),
        ("backend_str", "_make"),
        ("    @classmethod\n", "    @classmethod\n    @cached\n"),
    ],
)
def test_one_that_something_may_call_stands_against_it(old: str, new: str) -> None:
    source = CLASS_METHOD.replace("import MultiProcessTestCase", "import MultiProcContinousTest, MultiProcessTestCase")
    outcome = migrate(source.replace(old, new), NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "class-member"}
