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


def test_what_a_class_counts_each_class_for_a_device_counts_for_itself() -> None:
    text = checked(OWN_NAME.replace("T.size, inner())", "T.size, inner())\n        T.size += 1"), NAME, unsafe=True)
    assert "torch.ones(type(self).size, device=device).numel(), type(self).size, inner())\n" in text
    assert "        type(self).size += 1\n" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return T.Model()", "return T.helper()"),
        ("return T.Model()", "return T"),
        ("T.size, inner())", "T.size, inner())\n        self.size = 1"),
        ("T.size, inner())", "T.size, inner())\n        T.size += 1\n        self.size = 1"),
        ("T.size, inner())", "T.size, inner())\n        T.Model = None"),
        ("T.size, inner())", "T.size, inner())\n        T.other = 1"),
        ("T.size, inner())", "T.size, inner())\n        del T.size"),
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
    assert reasons(outcome) == ({} if outcome.changed else {"T": "imported-elsewhere"})


INNER = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class T(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_t(self):
        self.run_all(self._run)

    def run_all(self, run):
        run()

    def _run(self):
        class Model(torch.nn.Module):
            def forward(self, x):
                return x + torch.ones(2, device="cuda")

        Model()(torch.ones(2).cuda())
"""


def test_a_class_inside_a_method_has_a_self_of_its_own() -> None:
    """The method is handed on, so that it can take no parameter: it asks the test once, where ``self`` is the test."""
    text = checked(INNER, NAME, unsafe=True)
    assert "    def _run(self):\n        device_type = self.device_type\n" in text
    assert "                return x + torch.ones(2, device=device_type)\n" in text
    assert "        Model()(torch.ones(2).to(device_type))\n" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def forward(self, x):", "def forward(self, x, device_type=None):"),
        ("    def _run(self):\n", "    def _run(self):\n        self = self.copy()\n"),
    ],
)
def test_a_name_that_is_taken_inside_it_is_not_used(old: str, new: str) -> None:
    outcome = migrate(INNER.replace(old, new), NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "name-taken"}


OWN_TORCH = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class T(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_t(self):
        import torch

        torch.ones(2, device="cuda")
        torch.cuda.synchronize()
"""


def test_a_module_may_be_imported_once_more() -> None:
    text = checked(OWN_TORCH, NAME, unsafe=True)
    assert (
        "        import torch\n\n        torch.ones(2, device=device)\n        torch.accelerator.synchronize()\n"
        in text
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        import torch\n", "        from other import torch\n"),
        ("        import torch\n", "        if TEST_CUDA:\n            import torch\n"),
        ("        import torch\n", "        import torch\n        torch = torch.other\n"),
        ("        import torch\n", "        import torch\n        for torch in ():\n            pass\n"),
        ("synchronize()\n", "synchronize()\n        import torch.nn\n"),
    ],
)
def test_what_may_be_another_torch_or_none_yet_stands_against_it(old: str, new: str) -> None:
    source = OWN_TORCH.replace(old, new, 1) if "synchronize" not in old else OWN_TORCH.replace(old, new)
    if "synchronize" in old:
        source = source.replace("        import torch\n\n", "")
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "name-taken"}


OUTER = """\
import unittest
import torch
from torch import device
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class T(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_t(self):
        torch.ones(2, device="cuda")
        BODY
"""


@pytest.mark.parametrize(
    ("body", "held"),
    [
        ('print(torch.ones(2, device=device("cpu")))', True),
        ("print([device for device in range(2)], device)", True),
        ("print((lambda: device)())", True),
        ("print((lambda device: device)(1))", False),
    ],
)
def test_a_parameter_hides_no_device_of_the_module(body: str, held: bool) -> None:
    """``from torch import device`` makes it the name of a class."""
    outcome = migrate(OUTER.replace("BODY", body), NAME, unsafe=True)
    assert outcome.changed != held
    assert not held or reasons(outcome) == {"T": "name-taken"}


def test_nor_where_the_class_is_instantiated_already() -> None:
    loader = "from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA\n"
    source = OUTER.replace('@unittest.skipIf(not TEST_CUDA, "no CUDA")', "@onlyCUDA")
    source = source.replace("import device\n", f"import device\n{loader}")
    source += "\n\ninstantiate_device_type_tests(T, globals())\n"
    outcome = migrate(source.replace("BODY", 'print(device("cpu"))'), NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T.test_t": "name-taken"}
    assert "device=device" in checked(source.replace("BODY", "print(2)"), NAME, unsafe=True)
