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
    file = SourceFile.read(data, PATH)
    context = Context(module, suite, Settings(), verdicts, Options(split=True), file)
    assert codemod.enabled(context) and not codemod.enabled(Context(module, suite, Settings()))
    plan = codemod.plan(context)
    return splice(file.text, codemod.edit(file, plan.changes)), plan


def test_a_class_in_two() -> None:
    text, plan = plan_of(SOURCE)
    assert text == AFTER
    (change,) = plan.changes
    assert change.renames == (
        (("CacheTest", "test_tensor"), ("CacheTestDevice", "test_tensor")),
        (("CacheTest", "_key"), ("_CacheTestBase", "_key")),
    )
    assert change.applicability == "safe"


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
        (
            "class CacheTest(",
            "def CacheTestDevice():\n    pass\n\n\nCacheTestDeviceTests = 0\n\n\nclass CacheTest(",
            "name-taken",
        ),
        ("class CacheTest(", "class CacheTest(TestCase):\n    pass\n\n\nclass CacheTest(", "name-collision"),
        ("class CacheTest(", "@thing\nclass CacheTest(", "unknown-name"),
        ("self._key(torch", "self.test_number(torch", "unknown-caller"),
        ("self._key(torch", "self._key(self.test_number, torch", "unknown-caller"),
        ("return str(value)", "return self.test_number()", "unknown-caller"),
        (
            "    def test_text",
            "    def test_tensor(self):\n        torch.ones(1).cuda()\n\n    def test_text",
            "dynamic",
        ),
        ("if __name__", "CacheTest.limit = 4\nif __name__", "dynamic"),
        ("if __name__", "setattr(CacheTest, 'test_more', more)\nif __name__", "dynamic"),
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
        ("    # numbers\n", "    @parametrize('n', [limit for _ in ones])\n"),
        ("    # numbers\n", "    @parametrize('n', lambda: limit)\n"),
        ("    # numbers\n", "    test_again = test_tensor\n\n    # numbers\n"),
        ("    # numbers\n", "    test_again = twice(test_tensor)\n\n    # numbers\n"),
        ('self._key("")', 'getattr(self, "test_tensor")()'),
        ("self._key(torch", 'getattr(self, "test_number")(torch'),
        ("if __name__", "CacheTest.test_tensor.slow = True\nif __name__"),
        ("if __name__", "print(CacheTest.__dict__)\nif __name__"),
        ("if __name__", "match CacheTest:\n    case CacheTestDevice:\n        pass\nprint(CacheTestDevice)\nif __name__"),
        ("if __name__", "make_variant(CacheTest)\nif __name__"),
        ("if __name__", "SKIPPED = ['CacheTest']\nif __name__"),
        ("class CacheTest(TestCase):", "class CacheTest(  # why\n    TestCase\n):"),
    ],
)  # fmt: skip
def test_layouts_that_stay(old: str, new: str) -> None:
    from codemods.plan import CannotEdit

    with pytest.raises(CannotEdit):
        plan_of(SOURCE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # What the name is used for stays there, or comes from the base.
        ("if __name__", "unittest.expectedFailure(CacheTest.test_number)\nprint(CacheTest.limit)\nif __name__"),
        ("self._key(1)", "str(CacheTest.limit)"),
        # A test by another name is one of the first part.
        ("    # numbers\n", "    test_limit = [3]\n\n    # numbers\n"),
        # A test that is named stays where it is named, or goes with what names it.
        ('self._key("")', 'str(record("test_number"))'),
        ("self._key(torch", 'self._key("test_tensor", torch'),
        ('self._key("")', "self.test_number()"),
        # Python keeps the last of two.
        ("    def test_text", "    def test_number"),
        ("class CacheTest(", "class CacheTestDevice:\n    pass\n\n\nclass CacheTest("),
        ("class CacheTest(", "class _CacheTestBase:\n    pass\n\n\nclass CacheTest("),
    ],
)  # fmt: skip
def test_what_stays_harms_nothing(old: str, new: str) -> None:
    assert old in SOURCE
    text, plan = plan_of(SOURCE.replace(old, new, 1))
    assert len(plan.changes) == 1 and not plan.refusals
    if new.startswith("class "):
        old = "CacheTestDevice(" if "Device" in new else "_CacheTestBase"
        new = "CacheTestDeviceTests(" if "Device" in new else "_CacheTestShared"
        rest = text.partition("pass\n\n\n")[2]
        assert rest == AFTER.replace(old, new).partition("TestCase\n\n\n")[2]
    elif "test_limit" in new:
        assert (
            "    limit = 3  # at most\n\n    def _key(" in text and "    test_limit = [3]\n\n\nclass CacheTest(" in text
        )
    else:
        assert text == AFTER.replace(old, new, 1)


def test_names_that_the_module_assigns_are_taken() -> None:
    text, _ = plan_of(SOURCE.replace("if __name__", "CacheTestDevice = _CacheTestBase = 0\nif __name__"))
    assert "class CacheTestDeviceTests(_CacheTestShared, TestCase):" in text


def test_a_text_by_itself_goes_with_what_it_comments_on() -> None:
    text = '    """Works for text."""\n'
    source = SOURCE.replace("    def test_text", text + "    def test_text")
    after = AFTER.replace("    def test_text", text + "    def test_text")
    assert plan_of(source)[0] == after


@pytest.mark.parametrize("place", ["    limit = 3", "    @unittest"])
def test_a_text_does_not_become_the_documentation_of_a_class(place: str) -> None:
    from codemods.plan import CannotEdit

    with pytest.raises(CannotEdit, match="documentation"):
        plan_of(SOURCE.replace(place, f'    """A note."""\n{place}', 1))


def test_a_test_by_another_name_stays_with_the_one_it_is_made_of() -> None:
    source = SOURCE.replace("    @unittest", "    test_again = twice(test_number)\n\n    @unittest")
    text = plan_of(source)[0]
    assert text == AFTER.replace("    def test_text", "    test_again = twice(test_number)\n\n    def test_text")


def test_names_of_the_own_scope_are_read_through_the_base() -> None:
    source = SOURCE.replace("    # numbers\n", "    @parametrize('ä', [limit, limit])\n    # numbers\n")
    source = source.replace("test_tensor(self)", "test_tensor(self, n=limit)")
    after = AFTER.replace(
        "    # numbers\n", "    @parametrize('ä', [_CacheTestBase.limit, _CacheTestBase.limit])\n    # numbers\n"
    ).replace("test_tensor(self)", "test_tensor(self, n=_CacheTestBase.limit)")
    assert plan_of(source)[0] == after


def test_a_test_that_is_not_sure_stays() -> None:
    unsure = "    def test_part(self):\n        self._key(1)\n        if TEST_CUDA:\n            self._key(2)\n\n"
    source = SOURCE.replace("    def test_text", f"{unsure}    def test_text")
    text, plan = plan_of(source)
    assert not plan.refusals
    assert text == AFTER.replace("    def test_text", f"{unsure}    def test_text")


def test_a_test_that_is_not_sure_has_to_have_company() -> None:
    unsure = "    def test_part(self):\n        self._key(1)\n        if TEST_CUDA:\n            self._key(2)\n\n"
    nothing_goes = SOURCE.replace("    @unittest.skipIf", f"{unsure}    @unittest.skipIf").replace(
        "test_tensor", "other"
    )
    assert [r.reason for r in plan_of(nothing_goes)[1].refusals] == ["uncertain"]


CALL = "instantiate_parametrized_tests(\n    CacheTest,\n)\n"


def indented(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))


@pytest.mark.parametrize("head", ["if LINUX:\n", "if LINUX:\n    limit = 1\nelse:\n", "try:\n"])
def test_a_class_in_a_block(head: str) -> None:
    before = indented(SOURCE[len(HEAD) : SOURCE.index("\n\nif __name__")] + "\n" + CALL)
    after = AFTER[len(HEAD) : AFTER.index("\n\nif __name__")].replace("\n\n\n", "\n\n") + "\n"
    after = indented(after + CALL + CALL.replace("CacheTest", "CacheTestDevice"))
    tail = "except ImportError:\n    pass\n" if head.startswith("try") else ""
    assert plan_of(HEAD + head + before + tail)[0] == HEAD + head + after + tail


def test_a_call_below_the_block() -> None:
    before = indented(SOURCE[len(HEAD) : SOURCE.index("\n\nif __name__")])
    text = plan_of(f"{HEAD}if LINUX:\n{before}\n{CALL}")[0]
    assert text.endswith("\n" + CALL + CALL.replace("CacheTest", "CacheTestDevice"))


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("for _ in range(2):\n", ""),
        ("with context():\n", ""),
        ("if LINUX:\n", "    for _ in range(2):\n        instantiate_parametrized_tests(CacheTest)\n"),
    ],
)
def test_blocks_that_say_it_more_than_once(head: str, call: str) -> None:
    before = indented(SOURCE[len(HEAD) : SOURCE.index("\n\nif __name__")])
    plan = plan_of(HEAD + head + before + "\n" + call)[1]
    assert not plan.changes and plan.refusals[0].reason in ("layout", "already-instantiated")


@pytest.mark.parametrize("call", ["x = 1; instantiate_parametrized_tests(CacheTest)", CALL.replace(",", ",  # why")])
def test_a_call_that_is_not_alone(call: str) -> None:
    from codemods.plan import CannotEdit

    with pytest.raises(CannotEdit):
        plan_of(SOURCE.replace("if __name__", f"{call}\n\nif __name__"))


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
