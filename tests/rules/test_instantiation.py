"""HW601-HW609: what is lost, doubled, never made or bound anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwlint.rules.rebound_members import ReboundMember
from tests.support import PATH, check, codes, run_torch_tests


def test_inherited_tests_lost_across_files() -> None:
    found = check(
        "lost_tests.HW601",
        {
            "test/common_sort.py": """
                class SortBase(TestCase):
                    def test_a(self, device): ...
                    def test_b(self, device): ...
                instantiate_device_type_tests(SortBase, globals())
                """,
            PATH: """
                from common_sort import SortBase
                class WithFlag(SortBase):
                    flag = True
                    def test_c(self, device): ...
                instantiate_device_type_tests(WithFlag, globals())
                """,
        },
    )
    assert codes(found) == ["HW601"]
    assert found[0].path == PATH and found[0].severity == "error"
    assert "test_a, test_b of SortBase (test/common_sort.py:" in found[0].message
    assert [r.path for r in found[0].related] == ["test/common_sort.py"] * 2


def test_base_instantiated_by_the_importing_file() -> None:
    found = check(
        "lost_tests.HW601",
        {
            "test/common_sort.py": "class SortBase(TestCase):\n    def test_a(self, device): ...\n",
            PATH: """
                from common_sort import SortBase
                class Plain(SortBase): ...
                instantiate_device_type_tests(SortBase, globals())
                """,
        },
    )
    assert [f.symbol for f in found] == ["Plain"]
    assert "is not instantiated" in found[0].message


def test_inherited_test_that_nothing_passes_a_device() -> None:
    found = check(
        "lost_tests.HW601",
        """
        class Base(TestCase):
            def test_a(self, device): ...
        class Sub(Base):
            def test_b(self, device): ...
        instantiate_device_type_tests(Sub, globals())
        """,
    )
    assert [f.detail for f in found] == ["device"]


def test_helpers_in_a_base_are_no_loss() -> None:
    assert not check(
        "instantiation",
        """
        class Base(TestCase):
            def helper(self, device): ...
        class Sub(Base):
            def test_b(self, device): self.helper(device)
        instantiate_device_type_tests(Sub, globals())
        """,
    )


def test_generated_class_replaces_one_above_and_is_replaced_by_one_below() -> None:
    text = """
        class {above}(TestCase):
            def test_x(self): ...
        class Foo(TestCase):
            def test_x(self, device): ...
        instantiate_device_type_tests(Foo, globals())
        class {below}(TestCase):
            def test_x(self): ...
        """
    above = check("generated_names.HW602", text.format(above="FooCUDA", below="Bar"))
    below = check("generated_names.HW602", text.format(above="Bar", below="FooCPU"))
    assert "replaces the class on line" in above[0].message and len(above) == 1
    assert "is replaced by the class on line" in below[0].message and len(below) == 1


def test_collision_needs_the_device_and_the_same_branch() -> None:
    assert not check(
        "generated_names.HW602",
        """
        class FooCUDA(TestCase):
            def test_x(self): ...
        class Foo(TestCase):
            def test_x(self, device): ...
        instantiate_device_type_tests(Foo, globals(), only_for="cpu")
        """,
    )
    assert not check(
        "generated_names.HW602",
        """
        if FLAG:
            class FooCPU(TestCase):
                def test_x(self): ...
        else:
            class Foo(TestCase):
                def test_x(self, device): ...
            instantiate_device_type_tests(Foo, globals())
        """,
    )


def test_generated_test_that_the_class_already_has() -> None:
    found = check(
        "generated_names.HW602",
        """
        class Foo(TestCase):
            def test_x(self, device): ...
            def test_x_cpu(self, device): ...
        instantiate_device_type_tests(Foo, globals(), only_for="cpu")
        """,
    )
    assert [f.severity.value for f in found] == ["error", "info"]
    assert "raises at import" in found[0].message


def test_doubled_names() -> None:
    found = check(
        "generated_names.HW602",
        """
        class FooCUDA(TestCase):
            def test_x_cuda(self, device): ...
        instantiate_device_type_tests(FooCUDA, globals(), only_for="cuda")
        """,
    )
    assert [(f.severity.value, f.message) for f in found] == [
        ("warning", "generated names say the device twice: 'FooCUDACUDA.test_x_cuda_cuda'")
    ]


def test_both_functions() -> None:
    text = """
        class A(TestCase):
            @parametrize("n", [1])
            def test_a(self, n{device}): ...
        instantiate_parametrized_tests(A)
        instantiate_device_type_tests(A, globals())
        """
    assert check("instantiation.HW603", text.format(device=", device"))[0].severity == "error"
    assert check("instantiation.HW603", text.format(device=""))[0].severity == "warning"


def test_name_read_after_it_is_gone() -> None:
    found = check(
        "instantiation.HW605",
        """
        class A(TestCase):
            def setUp(self):
                super(A, self).setUp()
            def test_a(self, device): helper()
        def helper():
            return A.limit
        def fill():
            A.limit = 3
        fill()
        instantiate_device_type_tests(A, globals())
        """,
    )
    assert [f.symbol for f in found] == ["A.setUp", "helper"]


def test_never_instantiated_needs_proof() -> None:
    text = """
        class A(TestCase):
            {decorator}
            def test_a(self, device): ...
        {after}
        """
    assert codes(check("instantiation.HW606", text.format(decorator="", after=""))) == ["HW606"]
    for decorator, after in [
        ("@parametrize('device', ['cpu'])", ""),
        ("@unknown", ""),
        ("", "setattr(A, 'x', 1)"),
        ("", "class B(A): ..."),
        ("", "instantiate_device_type_tests(A, globals())"),
    ]:
        assert not check("instantiation.HW606", text.format(decorator=decorator, after=after)), (decorator, after)


def test_only_for_through_a_constant() -> None:
    found = check(
        "instantiation.HW607",
        """
        DEVICES = ("cuda",)
        class A(TestCase):
            def test_a(self, device): ...
        instantiate_device_type_tests(A, globals(), only_for=DEVICES)
        """,
    )
    assert found[0].fix is not None and found[0].fix.message == "write only_for=('cuda',)"


def test_unseen_base() -> None:
    found = check(
        "instantiation.HW608",
        """
        class A(unittest.TestCase):
            def test_a(self): ...
        class B(TestCase):
            def test_a(self): ...
        class C(Unknown):
            def test_a(self): ...
        class Mixin:
            def test_a(self): ...
        """,
    )
    assert [f.symbol for f in found] == ["A"]


STATIC = """
    class A(TestCase):
        {decorator}
        def helper({first}x=0):
            return {body}
        def test_a(self, device):
            {call}
    instantiate_device_type_tests(A, globals())
    """


@pytest.mark.parametrize(
    ("decorator", "first", "body", "call", "expected"),
    [
        ("@staticmethod", "", "x", "self.helper(1)", ["A.helper"]),
        ("@staticmethod", "", "x", "A.helper(1)", []),  # HW605 says what is wrong with that
        ("@staticmethod", "", "x", "pass", []),
        ("@classmethod", "cls, ", "cls.device_type", "self.helper()", ["A.helper"]),
        ("@classmethod", "cls, ", "cls.__name__", "self.helper()", []),
        ("@property", "self, ", "self.device_type", "self.helper", []),
    ],
)
def test_members_that_instantiation_binds_anew(
    decorator: str, first: str, body: str, call: str, expected: list[str]
) -> None:
    text = STATIC.format(decorator=decorator, first=first, body=body, call=call)
    assert [f.symbol for f in check("rebound_members", text)] == expected
    assert not check("rebound_members", text.replace("instantiate_device_type_tests(A, globals())", "pass"))


def test_a_static_method_that_only_a_base_calls() -> None:
    text = """
        class Base:
            def run_it(self): self.helper()
        class A(Base, TestCase):
            @staticmethod
            def helper(): ...
            def test_a(self, device): self.run_it()
        instantiate_device_type_tests(A, globals())
        """
    assert [f.symbol for f in check("rebound_members", text)] == ["A.helper"]


def test_torch_breaks_the_bad_example_and_runs_the_good_one(torch_python: Path, tmp_path: Path) -> None:
    for name, text, status in (("bad", ReboundMember.bad, 1), ("good", ReboundMember.good, 0)):
        file = tmp_path / f"test_{name}.py"
        text = text.replace("Classification, TestCase", "Classification, run_tests, TestCase")
        file.write_text(f"import torch\n{text}\n\nif __name__ == '__main__':\n    run_tests()\n")
        run = run_torch_tests(torch_python, file)
        assert run.returncode == status, run.stderr
        assert ("TypeError" in run.stderr) == bool(status)
