"""Classes linked across files: bases, inherited tests, effective classification, device sets."""

from __future__ import annotations

import pytest

from tests.support import PATH, get_class, suite_of

HELPER = """
class Shared(TestCase):
    hw_classification = HardwareClassification.GENERIC
    def test_shared(self): ...
class Mixin:
    def test_mixed(self): ...
"""


@pytest.mark.parametrize(
    ("statement", "base"),
    [
        ("from helper import Shared", "Shared"),
        ("from helper import Shared as S", "S"),
        ("import helper", "helper.Shared"),
        ("import helper as h", "h.Shared"),
        ("from test import helper", "helper.Shared"),
        ("from test.helper import Shared", "Shared"),
        ("from helper import *", "Shared"),
        ("from . import helper", "helper.Shared"),
        ("from .helper import Shared", "Shared"),
        ("from between import Shared", "Shared"),
    ],
)
def test_a_base_in_another_file_is_found_through_any_import(statement: str, base: str) -> None:
    suite = suite_of(
        {
            "test/helper.py": HELPER,
            "test/between.py": "from helper import Shared\n",
            PATH: f"{statement}\nclass A({base}):\n    def test_own(self): ...\n",
        }
    )
    cls = get_class(suite, "A")
    assert [t.function.name for t in cls.inherited_tests] == ["test_shared"]
    assert (cls.label, cls.label_inherited, cls.is_test_case) == ("GENERIC", True, True)


def test_framework_bases() -> None:
    suite = suite_of(
        """
        from torch.testing._internal.common_utils import *
        from torch.testing._internal.common_distributed import MultiProcessTestCase
        class A(TestCase): ...
        class B(common_utils.TestCase): ...
        class C(MultiProcessTestCase): ...
        class D(unittest.TestCase): ...
        class E(make_base()): ...
        class F: ...
        """
    )
    found = {c.name: (c.is_test_case, c.loader_sees) for c in suite.classes_in(PATH)}
    assert found == {
        "A": (True, True),
        "B": (True, True),
        "C": (True, True),
        "D": (True, False),
        "E": (None, None),
        "F": (False, False),
    }


def test_inherited_tests_skip_what_the_class_takes_away() -> None:
    suite = suite_of(
        """
        class A(TestCase):
            def test_a(self): ...
            def test_b(self): ...
            def test_c(self): ...
        class B(A):
            test_a = None
            def test_b(self): ...
        """
    )
    assert [t.function.name for t in get_class(suite, "B").inherited_tests] == ["test_c"]


def test_own_tag_wins_over_the_inherited_one() -> None:
    suite = suite_of(
        """
        class A(TestCase):
            hw_classification = HardwareClassification.GENERIC
        class B(A):
            hw_classification = HardwareClassification.CPU
        """
    )
    assert (get_class(suite, "B").label, get_class(suite, "B").label_inherited) == ("CPU", False)


@pytest.mark.parametrize(
    ("arguments", "devices"),
    [
        ("", ("cpu", "cuda", "hpu", "privateuse1")),
        (", only_for='cuda'", ("cuda",)),
        (", only_for=('cpu', 'xpu')", ("cpu",)),
        (", only_for=('cpu', 'xpu'), allow_xpu=True", ("cpu", "xpu")),
        (", except_for='cpu'", ("cuda", "hpu", "privateuse1")),
        (", None, ('cuda',)", ("cuda",)),
        (", allow_mps=True, except_for=['cuda', 'hpu']", ("cpu", "privateuse1", "mps")),
        (", only_for=None", ("cpu", "cuda", "hpu", "privateuse1")),
        (", only_for='cpu', include_lazy=True", ("cpu", "lazy")),
        (", only_for=ONLY", ("cuda",)),
    ],
)
def test_device_sets(arguments: str, devices: tuple[str, ...]) -> None:
    suite = suite_of(
        f"""
        ONLY = ["cuda"]
        class A(TestCase):
            def test_a(self, device): ...
        instantiate_device_type_tests(A, globals(){arguments})
        """
    )
    cls = get_class(suite, "A")
    assert (cls.devices.devices, cls.devices.exact) == (devices, True)


def test_an_unknown_argument_makes_the_device_set_inexact() -> None:
    suite = suite_of(
        """
        class A(TestCase):
            def test_a(self, device): ...
        instantiate_device_type_tests(A, globals(), only_for=compute())
        """
    )
    assert not get_class(suite, "A").devices.exact


def test_calls_pair_with_the_class_of_their_own_branch() -> None:
    suite = suite_of(
        """
        if FLAG:
            class A(TestCase):
                def test_a(self, device): ...
            instantiate_device_type_tests(A, globals(), only_for="cuda")
        else:
            class A(TestCase):
                def test_b(self, device): ...
            instantiate_device_type_tests(A, globals(), only_for="cpu")
        """
    )
    assert [c.devices.devices for c in suite.classes_in(PATH)] == [("cuda",), ("cpu",)]


ALIASED = """
    try:
        from . import bases
    except ImportError:
        import bases
    Shared = bases.Shared
    class A(Shared):
        def test_b(self): ...
    """


def test_a_base_by_another_name_of_the_module() -> None:
    files = {"test/bases.py": "class Shared(TestCase):\n    def test_a(self): ...\n"}
    suite = suite_of({**files, PATH: ALIASED})
    assert not get_class(suite, "A").opaque_bases
    assert [t.function.name for t in get_class(suite, "A").inherited_tests] == ["test_a"]
    for old, new in (
        ("bases.Shared\n", "bases.Shared\n    Shared = make(Shared)\n"),  # Bound again.
        ("    Shared =", "    if True:\n        Shared ="),
        ("= bases.Shared", "= make()"),
    ):
        assert old in ALIASED
        assert get_class(suite_of({**files, PATH: ALIASED.replace(old, new)}), "A").opaque_bases == ("Shared",)


def test_a_cycle_of_imports_ends() -> None:
    suite = suite_of(
        {
            "test/one.py": "from two import Missing\nclass A(Missing): ...\n",
            "test/two.py": "from one import Missing\n",
        }
    )
    assert get_class(suite, "A", "test/one.py").opaque_bases


def test_grafted_tests() -> None:
    suite = suite_of(
        {
            "test/templates.py": "class Template:\n    def test_a(self): ...\n    def helper(self): ...\n",
            PATH: """
                from templates import Template, copy_tests
                class CpuTests(TestCase):
                    device = "cpu"
                copy_tests(Template, CpuTests, "cpu")
                """,
        }
    )
    cls = get_class(suite, "CpuTests")
    assert [t.function.name for t in cls.grafted_tests] == ["test_a"]
    assert cls.is_test_class and cls.facts.dynamic


def test_a_base_inside_another_class_and_builtin_types_as_bases() -> None:
    suite = suite_of(
        """
        class Outer:
            class Base(TestCase):
                def test_a(self): ...
        class A(Outer.Base): ...
        class Count(int): ...
        class Unknown(Missing.Base): ...
        """
    )
    assert [t.function.name for t in get_class(suite, "A").inherited_tests] == ["test_a"]
    assert not get_class(suite, "A").opaque_bases and not get_class(suite, "Count").opaque_bases
    assert get_class(suite, "Unknown").opaque_bases == ("Missing.Base",)
