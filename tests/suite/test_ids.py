"""Test IDs by device, as the loader makes them. tests/verify runs the same shapes through real torch."""

from __future__ import annotations

from hwlint.suite.ids import module_ids
from tests.support import PATH, suite_of


def names(text: str) -> list[str]:
    return [f"{i.class_name}.{i.name}" for i in module_ids(suite_of(text), PATH)]


def test_plain_and_instantiated() -> None:
    assert names(
        """
        class A(TestCase):
            def test_a(self): ...
        class B(TestCase):
            def test_b(self, device): ...
        instantiate_device_type_tests(B, globals(), only_for=("cpu", "cuda"))
        """
    ) == ["A.test_a", "BCPU.test_b_cpu", "BCUDA.test_b_cuda"]


def test_parametrized_names_stack_top_to_bottom() -> None:
    assert names(
        """
        class A(TestCase):
            @parametrize("x", [1, 2.5])
            @parametrize("y,z", [("a", None)])
            def test_a(self, x, y, z): ...
            def test_b(self): ...
        instantiate_parametrized_tests(A)
        class B(TestCase):
            @parametrize("flag", [True])
            @dtypes(torch.float, torch.int64)
            def test_c(self, device, dtype, flag): ...
        instantiate_device_type_tests(B, globals(), only_for="cpu")
        """
    ) == [
        "A.test_a_x_1_y_a_z0",
        "A.test_a_x_2_5_y_a_z0",
        "A.test_b",
        "BCPU.test_c_flag_True_cpu_float32",
        "BCPU.test_c_flag_True_cpu_int64",
    ]


def test_names_that_cannot_be_read_are_patterns() -> None:
    assert names(
        """
        class A(TestCase):
            @ops(op_db)
            def test_a(self, device, dtype, op): ...
            @parametrize("x", values())
            def test_b(self, device, x): ...
        instantiate_device_type_tests(A, globals(), only_for="cpu")
        """
    ) == ["ACPU.test_a_*_cpu*", "ACPU.test_b_*_cpu"]


def test_dtypes_of_a_device_win() -> None:
    assert names(
        """
        from torch.testing._internal.common_device_type import dtypesIfCUDA
        class A(TestCase):
            @dtypes(torch.float)
            @dtypesIfCUDA(torch.half)
            def test_a(self, device, dtype): ...
        instantiate_device_type_tests(A, globals(), only_for=("cpu", "cuda"))
        """
    ) == ["ACPU.test_a_cpu_float32", "ACUDA.test_a_cuda_float16"]


def test_inherited_tests_are_there_as_long_as_the_base_has_them() -> None:
    assert names(
        """
        class Base(TestCase):
            def test_a(self, device): ...
        class Sub(Base):
            def test_b(self, device): ...
        class Bare(Base): ...
        instantiate_device_type_tests(Base, globals(), only_for="cpu")
        instantiate_device_type_tests(Sub, globals(), only_for="cpu")
        """
    ) == ["BaseCPU.test_a_cpu", "SubCPU.test_b_cpu"]
    assert names(
        """
        class Base(TestCase):
            def test_a(self): ...
        class Sub(Base):
            def test_b(self, device): ...
        instantiate_device_type_tests(Sub, globals(), only_for=("cpu", "cuda"))
        """
    ) == [
        "Base.test_a",
        "SubCPU.test_b_cpu",
        "SubCPU.test_a",
        "SubCUDA.test_b_cuda",
        "SubCUDA.test_a",
    ]
