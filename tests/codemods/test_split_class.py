"""split_class: golden pairs byte for byte, and what is refused with which reason."""

# ruff: noqa: E501  # Pairs are read side by side.

from __future__ import annotations

import pytest

from codemods.edit import SourceFile, splice
from codemods.plan import Context, Options, Plan
from codemods.split_class import SplitClass
from hwlint.catalog import load_catalog
from hwlint.classify.judge import classify
from hwlint.config import Settings
from hwlint.scan.module import scan_module
from hwlint.suite.link import link
from tests.codemods.harness import check_invariants, migrate

PATH = "test/test_sample.py"
HEAD = """\
import unittest
import torch
from torch.testing._internal.common_utils import instantiate_parametrized_tests, TEST_CUDA, TestCase


"""
SOURCE = (
    HEAD
    + '''class CacheTest(TestCase):
    """Keys."""

    limit = 3  # at most

    def _key(self, value):
        return str(value)  # the key

    # numbers
    def test_number(self):
        self.assertEqual(self._key(1), "1")

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_tensor(self):
        self.assertEqual(self._key(torch.ones(1).cuda().item()), "1.0")

    def test_text(self):
        self.assertEqual(self._key(""), "")


if __name__ == "__main__":
    unittest.main()
'''
)
AFTER = (
    HEAD
    + '''class _CacheTestBase:
    limit = 3  # at most

    def _key(self, value):
        return str(value)  # the key


class CacheTest(_CacheTestBase, TestCase):
    """Keys."""

    # numbers
    def test_number(self):
        self.assertEqual(self._key(1), "1")

    def test_text(self):
        self.assertEqual(self._key(""), "")


class CacheTestDevice(_CacheTestBase, TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_tensor(self):
        self.assertEqual(self._key(torch.ones(1).cuda().item()), "1.0")


if __name__ == "__main__":
    unittest.main()
'''
)


def plan_of(source: str) -> tuple[str, Plan]:
    """The text with the changes of the codemod itself, and its plan."""
    data, catalog = source.encode(), load_catalog()
    module = scan_module(data, PATH, catalog)
    suite = link([module], catalog)
    verdicts = {(v.class_name, v.line): v for v in classify(suite, (PATH,), Settings())}
    codemod = SplitClass()
    context = Context(module, suite, Settings(), verdicts, Options(split=True))
    assert codemod.enabled(context) and not codemod.enabled(Context(module, suite, Settings()))
    plan = codemod.plan(context)
    file = SourceFile.read(data, PATH)
    return splice(file.text, codemod.edit(file, plan.changes)), plan


def test_a_class_in_two() -> None:
    text, plan = plan_of(SOURCE)
    assert text == AFTER
    (change,) = plan.changes
    assert change.renames == (
        (("CacheTest", "test_tensor"), ("CacheTestDevice", "test_tensor")),
        (("CacheTest", "_key"), ("_CacheTestBase", "_key")),
    )
    assert change.applicability == "unsafe"


def test_windows_lines() -> None:
    assert plan_of(SOURCE.replace("\n", "\r\n"))[0] == AFTER.replace("\n", "\r\n")


def test_nothing_shared_makes_no_base() -> None:
    source = SOURCE.replace("    limit = 3  # at most\n\n", "").replace(
        "    def _key(self, value):\n        return str(value)  # the key\n\n", ""
    )
    source = source.replace("self._key(", "str(")
    text = plan_of(source)[0]
    assert "Base" not in text
    assert "class CacheTest(TestCase):\n" in text and "class CacheTestDevice(TestCase):\n" in text


def test_each_part_is_instantiated() -> None:
    text = plan_of(SOURCE.replace("\n\nif __name__", "\n\ninstantiate_parametrized_tests(CacheTest)\n\nif __name__"))[0]
    assert "instantiate_parametrized_tests(CacheTest)\ninstantiate_parametrized_tests(CacheTestDevice)\n" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("if __name__", "class U(CacheTest):\n    pass\n\n\nif __name__", "subclassed"),
        ("class CacheTest(", "class CacheTestDevice:\n    pass\n\n\nclass CacheTest(", "name-taken"),
        ("class CacheTest(", "@thing\nclass CacheTest(", "unknown-name"),
        ('self._key("")', "self.test_number()", "unknown-caller"),
        ("    def test_text", "    def test_number", "dynamic"),
    ],
)  # fmt: skip
def test_refusals(old: str, new: str, reason: str) -> None:
    text, plan = plan_of(SOURCE.replace(old, new, 1))
    assert not plan.changes
    assert [r.reason for r in plan.refusals if r.symbol == "CacheTest"] == [reason]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self._key(1)", "self.__key(1)"),
        ('self._key("")', "super(CacheTest, self).setUp()"),
        ("    limit = 3  # at most\n", "    if True:\n        limit = 3\n"),
        ("    # numbers\n", "    @parametrize('n', [limit])\n"),
        ("class CacheTest(TestCase):", "class CacheTest(  # why\n    TestCase\n):"),
    ],
)  # fmt: skip
def test_layouts_that_stay(old: str, new: str) -> None:
    from codemods.plan import CannotEdit

    with pytest.raises(CannotEdit):
        plan_of(SOURCE.replace(old, new, 1))


def test_decorators_of_the_class_are_those_of_each_part() -> None:
    decorators = "# both\n@unittest.skipIf(False, 'x')\n@instantiate_parametrized_tests\n"
    text = plan_of(SOURCE.replace("class CacheTest(", f"{decorators}class CacheTest("))[0]
    above = decorators.removeprefix("# both\n")
    assert "# both\nclass _CacheTestBase:\n" in text
    assert f"{above}class CacheTest(_CacheTestBase, TestCase):\n" in text
    assert f"{above}class CacheTestDevice(_CacheTestBase, TestCase):\n" in text


def test_a_helper_of_one_part_goes_with_it() -> None:
    helper = "    def _make(self):\n        return torch.ones(1).cuda()\n\n"
    source = SOURCE.replace("    # numbers\n", f"{helper}    # numbers\n").replace(
        "torch.ones(1).cuda().item()", "self._make().item()"
    )
    text = plan_of(source)[0]
    after = AFTER.replace(
        "class CacheTestDevice(_CacheTestBase, TestCase):\n",
        f"class CacheTestDevice(_CacheTestBase, TestCase):\n{helper}",
    )
    assert text == after.replace("torch.ones(1).cuda().item()", "self._make().item()")


def test_through_all_codemods() -> None:
    outcome = migrate(SOURCE, unsafe=True, split=True)
    check_invariants(outcome, unsafe=True, split=True)
    text = outcome.after.decode()
    assert "    hw_classification = HardwareClassification.GENERIC\n" in text
    assert "    @onlyAccelerator\n    def test_tensor(self, device):\n" in text
    assert "instantiate_device_type_tests(CacheTestDevice, globals())\n" in text
