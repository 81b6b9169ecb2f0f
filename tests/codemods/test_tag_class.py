"""tag_class, byte for byte."""

from __future__ import annotations

import pytest

from tests.codemods.harness import check_invariants, migrate, migrated, reasons

IMPORT = "from torch.testing._internal.common_utils import HardwareClassification, TestCase\n"


def tagged(source: str) -> str:
    outcome = migrate(source, "tag_class")
    check_invariants(outcome, "tag_class")
    return outcome.after.decode()


def test_the_tag_is_the_first_attribute_and_the_import_is_merged() -> None:
    assert (
        tagged(
            """\
from torch.testing._internal.common_utils import run_tests, TestCase


class ParserTest(TestCase):
    def test_empty(self):
        self.assertEqual([], [])


if __name__ == "__main__":
    run_tests()
"""
        )
        == """\
from torch.testing._internal.common_utils import (
    HardwareClassification,
    run_tests,
    TestCase,
)


class ParserTest(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_empty(self):
        self.assertEqual([], [])


if __name__ == "__main__":
    run_tests()
"""
    )


def test_the_tag_stands_below_the_docstring() -> None:
    assert (
        tagged(
            '''\
from torch.testing._internal.common_utils import TestCase

class A(TestCase):
    """About A."""
    def test_a(self):
        self.assertIn("About", self.__doc__)
'''
        )
        == '''\
from torch.testing._internal.common_utils import HardwareClassification, TestCase

class A(TestCase):
    """About A."""

    hw_classification = HardwareClassification.GENERIC

    def test_a(self):
        self.assertIn("About", self.__doc__)
'''
    )


def test_an_instantiated_class_is_tagged_accelerator() -> None:
    before = """\
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase
import torch


class SortTest(TestCase):
    def test_stable(self, device):
        torch.ones(3, device=device).sort()


instantiate_device_type_tests(SortTest, globals())
"""
    expected = before.replace("import TestCase", "import HardwareClassification, TestCase").replace(
        "(TestCase):\n", "(TestCase):\n    hw_classification = HardwareClassification.ACCELERATOR\n\n"
    )
    assert tagged(before) == expected


BODIES = {
    "blank line first": ("\n    def test_a(self): pass\n", "    TAG\n\n    def test_a(self): pass\n"),
    "comment of the test": (
        "    # about a\n    def test_a(self): pass\n",
        "    TAG\n\n    # about a\n    def test_a(self): pass\n",
    ),
    "comment of the class": (
        "    # about the class\n\n    def test_a(self): pass\n",
        "    # about the class\n\n    TAG\n\n    def test_a(self): pass\n",
    ),
    "heading of a section": (
        "    # -----\n    # first\n    # -----\n\n    def test_a(self): pass\n",
        "    TAG\n\n    # -----\n    # first\n    # -----\n\n    def test_a(self): pass\n",
    ),
    "comment at the margin": (
        "# old: x = 1\n    def test_a(self): pass\n",
        "    TAG\n\n# old: x = 1\n    def test_a(self): pass\n",
    ),
    "decorated": (
        "    @staticmethod\n    def help(): pass\n    def test_a(self): pass\n",
        "    TAG\n\n    @staticmethod\n    def help(): pass\n    def test_a(self): pass\n",
    ),
    "tabs": ("\tdef test_a(self): pass\n", "\tTAG\n\n\tdef test_a(self): pass\n"),
    "two blanks": ("  def test_a(self): pass\n", "  TAG\n\n  def test_a(self): pass\n"),
    "form feed": ("\f    def test_a(self): pass\n", "    TAG\n\n\f    def test_a(self): pass\n"),
    "semicolon": (
        "    x = 1; y = 2\n    def test_a(self): pass\n",
        "    TAG\n\n    x = 1; y = 2\n    def test_a(self): pass\n",
    ),
    "docstring in single quotes": (
        "    'doc'\n    def test_a(self): pass\n",
        "    'doc'\n\n    TAG\n\n    def test_a(self): pass\n",
    ),
    "docstring in parts": (
        "    ('doc'\n     'more')\n\n    def test_a(self): pass\n",
        "    ('doc'\n     'more')\n\n    TAG\n\n    def test_a(self): pass\n",
    ),
    "docstring with a comment": (
        '    """doc"""  # why\n    def test_a(self): pass\n',
        '    """doc"""  # why\n\n    TAG\n\n    def test_a(self): pass\n',
    ),
    "an f-string is no docstring": (
        '    f"""doc"""\n    def test_a(self): pass\n',
        '    TAG\n\n    f"""doc"""\n    def test_a(self): pass\n',
    ),
    "bytes are no docstring": (
        '    b"doc"\n    def test_a(self): pass\n',
        '    TAG\n\n    b"doc"\n    def test_a(self): pass\n',
    ),
    "formatter off": (
        "    # fmt: off\n    x = [1,2]\n    # fmt: on\n    def test_a(self): pass\n",
        "    TAG\n\n    # fmt: off\n    x = [1,2]\n    # fmt: on\n    def test_a(self): pass\n",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies(name: str) -> None:
    before, after = BODIES[name]
    after = after.replace("TAG", "hw_classification = HardwareClassification.GENERIC")
    assert tagged(f"{IMPORT}class A(TestCase):\n{before}") == f"{IMPORT}class A(TestCase):\n{after}"


HEADERS = (
    "class A(TestCase):  # why",
    "class A(\n    TestCase,\n    # and no more\n):",
    "class A(TestCase,\n        object):",
    "@unittest.skip('x')\nclass A(TestCase):",
    "# above\n@unittest.skip(\n    'x'\n)  # beside\nclass A(TestCase):",
)


@pytest.mark.parametrize("header", HEADERS)
def test_headers(header: str) -> None:
    head = f"import unittest\n{IMPORT}{header}\n"
    assert tagged(f"{head}    def test_a(self): pass\n") == (
        f"{head}    hw_classification = HardwareClassification.GENERIC\n\n    def test_a(self): pass\n"
    )


def test_a_one_line_class_is_opened() -> None:
    base = "class Base:\n    hw_classification = HardwareClassification.GENERIC\n\n    def test_a(self): pass\n"
    source = f"{IMPORT}{base}class A(Base, TestCase): test_b = Base.test_a; x = 1  # why\n"
    outcome = migrate(source, "tag_class", labels=[("A", "GENERIC")])
    check_invariants(outcome, "tag_class", labels=[("A", "GENERIC")])
    # Aliases of another class's tests are no tests that hwlint knows of: nothing to tag.
    assert outcome.after == source.encode()
    source = f"{IMPORT}class A(TestCase): test_a = lambda self: None\n"
    check_invariants(migrate(source, "tag_class", labels=[("A", "GENERIC")]), "tag_class")


def test_crlf_bom_and_a_missing_last_newline_stay() -> None:
    text = f"{IMPORT}class A(TestCase):\n    '''doc'''\n    def test_a(self): pass"
    before = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    outcome = migrate(before, "tag_class")
    check_invariants(outcome, "tag_class")
    expected = text.replace("'''\n", "'''\n\n    hw_classification = HardwareClassification.GENERIC\n\n")
    assert outcome.after == b"\xef\xbb\xbf" + expected.replace("\n", "\r\n").encode()


def test_another_encoding_stays() -> None:
    before = f"# coding: latin-1\n{IMPORT}class A(TestCase):\n    # \xe9\xfc\n    def test_a(self): pass\n".encode(
        "latin-1"
    )
    outcome = migrate(before, "tag_class")
    check_invariants(outcome, "tag_class")
    assert "# \xe9\xfc\n".encode("latin-1") in outcome.after
    assert b"HardwareClassification.GENERIC" in outcome.after


def test_old_mac_line_ends_are_refused() -> None:
    before = f"{IMPORT}class A(TestCase):\n    def test_a(self): pass\n".replace("\n", "\r").encode()
    outcome = migrate(before, "tag_class")
    assert outcome.after == before
    assert [r.reason for r in outcome.refusals] == ["encoding"]


def test_a_tag_above_the_docstring_moves_below_with_its_comment() -> None:
    source = f'''\
{IMPORT}
class A(TestCase):
    hw_classification = HardwareClassification.GENERIC  # sure

    """About A."""
    # about a
    def test_a(self):
        pass
'''
    assert tagged(source) == (
        f'''\
{IMPORT}
class A(TestCase):
    """About A."""

    hw_classification = HardwareClassification.GENERIC  # sure

    # about a
    def test_a(self):
        pass
'''
    )


def test_other_spellings_become_the_one_upstream_reads() -> None:
    source = """\
from torch.testing._internal import common_utils
from torch.testing._internal.common_utils import HardwareClassification as HC
class A(common_utils.TestCase):
    hw_classification = common_utils.HardwareClassification.GENERIC
    def test_a(self): pass
class B(common_utils.TestCase):
    hw_classification: HC = HC.GENERIC  # here
    def test_b(self): pass
"""
    assert tagged(source) == (
        """\
from torch.testing._internal import common_utils
from torch.testing._internal.common_utils import (
    HardwareClassification,
    HardwareClassification as HC,
)
class A(common_utils.TestCase):
    hw_classification = HardwareClassification.GENERIC
    def test_a(self): pass
class B(common_utils.TestCase):
    hw_classification = HardwareClassification.GENERIC  # here
    def test_b(self): pass
"""
    )


def test_an_invalid_tag_is_replaced() -> None:
    source = f'{IMPORT}class A(TestCase):\n    hw_classification = "generic"\n    def test_a(self): pass\n'
    assert tagged(source) == source.replace('"generic"', "HardwareClassification.GENERIC")


def test_a_tag_that_the_evidence_contradicts_is_left_and_named() -> None:
    source = f"""\
import torch
{IMPORT}
class A(TestCase):
    hw_classification = HardwareClassification.GENERIC
    def test_a(self):
        torch.cuda.nvtx.range_push("x")
        torch.ones(1, device="cuda").sum()
"""
    outcome = migrate(source, "tag_class")
    assert outcome.after == source.encode()
    assert set(reasons(outcome)) <= {"A"}


MIXED = """\
import torch
from torch.testing._internal.common_utils import TestCase
class A(TestCase):
    def test_a(self): self.assertEqual(1, 1)
    def test_b(self): torch.ones(2, device="cuda").sum()
"""


def test_a_mixed_class_is_refused_with_its_parts() -> None:
    outcome = migrate(MIXED, "tag_class")
    assert outcome.after == MIXED.encode()
    (refusal,) = outcome.refusals
    assert refusal.reason == "split"
    assert "GENERIC (test_a)" in refusal.text and "(test_b)" in refusal.text


def test_a_label_that_is_asked_for_has_to_meet_the_contract() -> None:
    outcome = migrate(MIXED, "tag_class", labels=[("A", "ACCELERATOR")])
    assert reasons(outcome) == {"A": "contract"}
    assert "must be instantiated" in outcome.refusals[0].text


def test_a_suppressed_finding_is_left() -> None:
    source = f"{IMPORT}class A(TestCase):  # hwlint: ignore[HW101]  moves with its file\n    def test_a(self): pass\n"
    outcome = migrate(source, "tag_class")
    assert outcome.after == source.encode()
    assert reasons(outcome) == {"A": "suppressed"}


def test_a_name_that_is_taken_is_left() -> None:
    source = "from torch.testing._internal.common_utils import TestCase\nHardwareClassification = 1\n"
    source += "class A(TestCase):\n    def test_a(self): pass\n"
    outcome = migrate(source, "tag_class")
    assert outcome.after == source.encode()
    assert reasons(outcome) == {"A": "name-taken"}


SUBCLASS = f"""\
{IMPORT}
class Base(TestCase):
    hw_classification = HardwareClassification.GENERIC
    def test_a(self): pass

class Sub(Base):
    def test_b(self): pass

class Bare(Base):
    flag = True
"""


def test_a_subclass_gets_its_own_tag_or_inherits_as_configured() -> None:
    assert migrated(SUBCLASS, "tag_class").count("hw_classification") == 2
    outcome = migrate(SUBCLASS, "tag_class", subclass_tags="inherit")
    assert outcome.after == SUBCLASS.encode()
    assert reasons(outcome) == {"Sub": "policy"}


def test_classes_in_functions_are_left_and_those_in_blocks_are_tagged() -> None:
    source = f"""\
import sys
{IMPORT}
if sys.platform == "linux":
    class A(TestCase):
        def test_a(self): pass

def make():
    class B(TestCase):
        def test_b(self): pass
    return B
"""
    expected = source.replace(
        "    class A(TestCase):\n",
        "    class A(TestCase):\n        hw_classification = HardwareClassification.GENERIC\n\n",
    )
    assert tagged(source) == expected


@pytest.mark.parametrize("path", ["test/helpers.py", "test/common.py"])
def test_files_that_hold_no_tests_are_left(path: str) -> None:
    source = f"{IMPORT}class A(TestCase):\n    def test_a(self): pass\n"
    assert migrate(source, "tag_class", path=path).after == source.encode()


def test_a_tag_that_is_held_back_does_not_keep_a_subclass_from_inheriting_another() -> None:
    """The base alone would be tagged, and the instantiated subclass, only likely CUDA, would become GENERIC."""
    outcome = migrate(
        """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase


class BaseTest(TestCase):
    def test_a(self):
        self.assertEqual(1, 1)


class DeviceTest(BaseTest):
    def test_a(self, device):
        self.assertEqual(1, 1)


instantiate_device_type_tests(DeviceTest, globals(), only_for="cuda")
""",
        "tag_class",
    )
    assert outcome.after == outcome.before
    assert reasons(outcome)["BaseTest"] == "subclassed"


def test_an_inherited_tag_that_the_evidence_contradicts_is_left_to_people() -> None:
    outcome = migrate(
        """\
import torch
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class BaseTest(TestCase):
    hw_classification = HardwareClassification.CUDA

    def test_a(self):
        torch.ones(1, device="cuda")


class PlainTest(BaseTest):
    test_a = None

    def test_b(self):
        self.assertEqual(1, 1)
""",
        "tag_class",
    )
    assert reasons(outcome)["PlainTest"] == "contradiction"
