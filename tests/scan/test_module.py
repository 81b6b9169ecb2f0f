"""What the scan says of a module: classes wherever they stand, tags, instantiations, constants, name uses."""

from __future__ import annotations

import pytest

from hwlint.scan.facts import Class
from hwlint.scan.module import module_name
from tests.support import scan


def class_named(text: str, name: str) -> Class:
    return next(c for c in scan(text).classes if c.name == name)


@pytest.mark.parametrize(
    ("path", "name"),
    [("test/nn/test_pool.py", "test.nn.test_pool"), ("test/nn/__init__.py", "test.nn"), ("conftest.py", "conftest")],
)
def test_module_name(path: str, name: str) -> None:
    assert module_name(path) == name


def test_classes_are_found_wherever_they_stand() -> None:
    facts = scan(
        """
        class Top(TestCase):
            def test_a(self): ...
            class Inner:
                def test_i(self): ...
        if torch.cuda.is_available():
            class InIf(TestCase):
                def test_b(self): ...
        else:
            class InElse(TestCase):
                async def test_c(self): ...
        try:
            class InTry(TestCase):
                def test_d(self): ...
        except ImportError:
            class InExcept(TestCase): ...
        with open("x"):
            class InWith(TestCase): ...
        for n in (1, 2):
            class InFor(TestCase): ...
        def factory():
            class Made(TestCase):
                def test_e(self): ...
            return Made
        """
    )
    found = {c.qualname: (c.top_level, tuple(b.keyword for b in c.blocks)) for c in facts.classes}
    assert found == {
        "Top": (True, ()),
        "Top.Inner": (False, ("class",)),
        "InIf": (False, ("if",)),
        "InElse": (False, ("else",)),
        "InTry": (False, ("try",)),
        "InExcept": (False, ("except",)),
        "InWith": (False, ("with",)),
        "InFor": (False, ("for",)),
        "factory.<locals>.Made": (False, ("def",)),
    }


def test_kinds_of_methods() -> None:
    cls = class_named(
        """
        class A(TestCase):
            def setUp(self): ...
            def test_one(self, device, *, dtype=None): ...
            async def test_two(self): ...
            @property
            def testing(self): ...
            def helper(self): ...
            test_three = test_one
            if True:
                def test_four(self): ...
        """,
        "A",
    )
    assert [(m.name, m.kind) for m in cls.methods] == [
        ("setUp", "setup"),
        ("test_one", "test"),
        ("test_two", "test"),
        ("testing", "helper"),
        ("helper", "helper"),
        ("test_three", "test"),
        ("test_four", "test"),
    ]
    one, two, three, four = (m for m in cls.methods if m.kind == "test")
    assert one.parameters == ("self", "device", "dtype") and one.defaulted == ("dtype",)
    assert two.is_async and "alias" in three.flags and "conditional" in four.flags


@pytest.mark.parametrize(
    ("tag", "label", "upstream"),
    [
        ("hw_classification = HardwareClassification.CPU", "CPU", True),
        ("hw_classification: HardwareClassification = HardwareClassification.MPS", "MPS", True),
        ("hw_classification: 'HardwareClassification' = HardwareClassification.MPS", "MPS", False),
        ("hw_classification = common_utils.HardwareClassification.XPU", "XPU", False),
        ("hw_classification = HC.CUDA", "CUDA", False),
        ("hw_classification = HardwareClassification.NPU", "", False),
        ("hw_classification = 'generic'", "", False),
        ("hw_classification: HardwareClassification", "", False),
    ],
)
def test_spellings_of_the_tag(tag: str, label: str, upstream: bool) -> None:
    cls = class_named(
        f"""
        from torch.testing._internal.common_utils import HardwareClassification as HC
        class A(TestCase):
            {tag}
            def test_a(self): ...
        """,
        "A",
    )
    assert cls.tag is not None
    assert (cls.tag.label, cls.tag.upstream) == (label, upstream)


def test_tag_above_docstring() -> None:
    cls = class_named('class A(TestCase):\n    hw_classification = HardwareClassification.CPU\n    """Doc."""\n', "A")
    assert cls.tag is not None and cls.tag.above_docstring and cls.docstring is None


def test_instantiations_in_every_form() -> None:
    facts = scan(
        """
        DEVICES = ("cuda", "xpu")
        @instantiate_parametrized_tests
        class A(TestCase): ...
        class B(TestCase): ...
        class C(TestCase): ...
        class D(TestCase): ...
        instantiate_device_type_tests(B, globals(), only_for=DEVICES, allow_xpu=True)
        for cls in (C, D):
            common_device_type.instantiate_device_type_tests(cls, globals(), None, ["cpu"])
        """
    )
    found = [(i.kind, i.target, i.form, i.top_level_statement) for i in facts.instantiations]
    assert found == [
        ("parametrized", "A", "decorator", False),
        ("device_type", "B", "call", True),
        ("device_type", "C", "call", False),
        ("device_type", "D", "call", False),
    ]
    only_for = facts.instantiations[1].argument("only_for")
    assert only_for is not None
    assert (only_for.value, only_for.known, only_for.literal) == (("cuda", "xpu"), True, False)
    assert facts.instantiations[1].scope_is_globals


def test_name_uses_are_those_the_instantiation_breaks() -> None:
    facts = scan(
        """
        class A(TestCase):
            def test_a(self, device):
                super(A, self).run()
        before = A
        instantiate_device_type_tests(A, globals())
        after = A
        class B(A): ...
        """
    )
    assert [(u.name, u.deferred, u.owner) for u in facts.name_uses] == [
        ("A", True, "A.test_a"),
        ("A", False, ""),
        ("A", False, ""),
    ]


def test_imports_and_stars() -> None:
    facts = scan(
        """
        import numpy as np, os.path
        from torch.testing._internal.common_nn import *
        try:
            from . import helper
            from ..nn.pool import Base as B
        except ImportError:
            pass
        """,
        path="test/inductor/test_x.py",
        header=False,
    )
    assert dict(facts.imports) == {
        "np": "numpy",
        "os": "os",
        "helper": "test.inductor.helper",
        "B": "test.nn.pool.Base",
    }
    assert facts.star_imports == ("torch.testing._internal.common_nn",)


def test_made_classes_are_opaque() -> None:
    facts = scan(
        """
        TestMade = make_test(1)
        TestTyped = type("TestTyped", (TestCase,), {})
        globals()["TestX"] = make_test(2)
        CONSTANT = compute()
        """
    )
    assert [u.name for u in facts.dynamic_classes] == ["TestMade", "TestTyped", ""]


def test_members_set_from_outside_make_a_class_dynamic() -> None:
    assert class_named("class A(TestCase): ...\nsetattr(A, 'test_x', f)\n", "A").dynamic
    assert class_named("class A(TestCase): ...\nA.test_x = f\n", "A").dynamic
    assert class_named("class A(TestCase):\n    for n in (1,):\n        locals()[n] = f\n", "A").dynamic
    assert not class_named("class A(TestCase): ...\n", "A").dynamic


def test_owners() -> None:
    assert scan('# Owner(s): ["module: nn", "oncall: distributed"]\n', header=False).owners == (
        "module: nn",
        "oncall: distributed",
    )


def test_a_broken_file_is_a_problem_not_a_crash() -> None:
    facts = scan("def f(:\n", header=False)
    assert facts.problem is not None and facts.problem.line == 1
