"""HW501-HW506: which gates bind, and what asks the device under test instead."""

from __future__ import annotations

import textwrap

import pytest

from hwlint.config import Settings
from hwlint.findings import Finding
from tests.support import check

MORE = """
from torch.testing._internal.common_device_type import skipXPUIf
from torch.testing._internal.common_utils import (
    TEST_ACCELERATOR, TEST_CUDA, TEST_MULTIGPU, TEST_WITH_ROCM, TEST_XPU, serialTest, skipIfMPS,
)
from torch.testing._internal.common_cuda import SM80OrLater, TEST_CUDNN, TEST_MULTIGPU
from torch.testing._internal.inductor_utils import HAS_CPU, HAS_GPU, requires_gpu
"""


def found(code: str, text: str, settings: Settings | None = None) -> list[Finding]:
    return check(f"gates.{code}" if code else "gates", MORE + textwrap.dedent(text), settings)


def instantiated(decorator: str, body: str = "torch.ones(1, device=device)", more: str = "") -> str:
    return f"""
class A(TestCase):
    @{decorator}
    def test_a(self, device):
        {body}

instantiate_device_type_tests(A, globals(){more})
"""


def plain(decorator: str, body: str = "pass") -> str:
    return f"""
class A(TestCase):
    @{decorator}
    def test_a(self):
        {body}
"""


def test_only_cuda() -> None:
    (one,) = found("HW501", instantiated("onlyCUDA"))
    assert one.severity == "warning" and one.fix is not None
    assert (one.fix.replacement, one.fix.applicability, one.fix.span) == ("onlyAccelerator", "unsafe", one.span)


def test_only_cuda_in_a_suite_for_an_older_torch() -> None:
    (one,) = found("HW501", instantiated("onlyCUDA"), Settings(torch="2.6"))
    assert one.fix is not None and one.fix.replacement is None and one.fix.applicability == "none"
    assert "newer than the torch 2.6 set" in one.message


def test_a_qualified_spelling_is_kept() -> None:
    (one,) = found("HW501", instantiated("common_device_type.onlyCUDA"))
    assert one.fix is not None and one.fix.replacement == "common_device_type.onlyAccelerator"


def test_only_cuda_at_home_is_redundant_but_right() -> None:
    assert found("HW501", instantiated("onlyCUDA", more=', only_for="cuda"')) == []


def test_upstreams_contract_reports_it_on_accelerator_classes() -> None:
    text = instantiated("onlyCUDA").replace(
        "    @onlyCUDA", "    hw_classification = HardwareClassification.ACCELERATOR\n\n    @onlyCUDA"
    )
    assert found("HW501", text) == []


def test_only_cuda_with_a_vendor_only_api_and_only_cpu_are_information() -> None:
    (one,) = found("HW501", instantiated("onlyCUDA", 'torch.cuda.nvtx.range_push("x")'))
    assert one.severity == "info" and one.fix is None
    (one,) = found("HW501", instantiated("onlyCPU"))
    assert one.severity == "info"


@pytest.mark.parametrize("decorator", ["onlyAccelerator", 'skipXPUIf(True, "gap")', "dtypes(torch.float)"])
def test_what_is_device_generic_is_left_alone(decorator: str) -> None:
    assert found("", instantiated(decorator)) == []


@pytest.mark.parametrize(
    "decorator",
    [
        'unittest.skipIf(not TEST_CUDA, "no")',
        'unittest.skipUnless(TEST_CUDA, "no")',
        'unittest.skipIf(not torch.cuda.is_available(), "no")',
    ],
)
def test_availability_gate_on_a_plain_class(decorator: str) -> None:
    (one,) = found("HW502", plain(decorator))
    assert one.severity == "warning" and "without cuda" in one.message
    assert one.fix is not None and (one.fix.replacement, one.fix.applicability) == ("onlyAccelerator", "shown")
    assert found("HW503", plain(decorator)) == []


def test_gate_inside_the_body() -> None:
    body = 'if not torch.cuda.is_available():\n            self.skipTest("no")'
    (one,) = found("HW502", plain("dtypes()", body))
    assert one.severity == "warning" and "in A.test_a" in one.message


def test_a_guard_around_a_part_is_information() -> None:
    body = 'if torch.cuda.is_available():\n            torch.ones(1, device="cuda")\n        torch.ones(1)'
    (one,) = found("HW502", plain("dtypes()", body))
    assert one.severity == "info" and "part of the test" in one.message


def test_a_compound_gate_is_said_to_be_and_gets_no_replacement() -> None:
    (one,) = found("HW502", plain('unittest.skipIf(not TEST_CUDA or not dist_ok(), "no")'))
    assert "compound" in one.message and one.fix is None


def test_a_capability_stays_as_a_targeted_skip() -> None:
    (one,) = found("HW502", plain('unittest.skipIf(not SM80OrLater, "no")'))
    assert one.severity == "info" and "keep it" in one.message


def test_rocm_is_a_build_of_one_device() -> None:
    assert found("HW502", plain('unittest.skipIf(not TEST_WITH_ROCM, "no")')) == []


def test_a_count_is_not_any_accelerator() -> None:
    (one,) = found("HW502", plain('unittest.skipIf(not TEST_MULTIGPU, "no")'))
    assert "2 devices of cuda" in one.message and "deviceCountAtLeast(2)" in one.message


def test_class_gate_is_reported_once() -> None:
    text = """
    @unittest.skipIf(not TEST_CUDA, "no")
    class A(TestCase):
        def test_a(self):
            pass

        def test_b(self):
            pass
    """
    assert [f.symbol for f in found("HW502", text)] == ["A"]


def test_global_skip_becomes_device_aware() -> None:
    (one,) = found("HW503", instantiated('unittest.skipIf(TEST_XPU, "gap")'))
    assert one.severity == "warning" and one.fix is not None
    assert (one.fix.replacement, one.fix.applicability) == ("skipXPUIf(True, 'gap')", "unsafe")
    assert found("HW502", instantiated('unittest.skipIf(TEST_XPU, "gap")')) == []
    (one,) = found("HW503", instantiated("skipIfMPS"))
    assert one.fix is not None and (one.fix.replacement, one.fix.applicability) == ("skipMPS", "shown")


def test_global_count_takes_devices() -> None:
    (one,) = found("HW503", instantiated('unittest.skipIf(not TEST_MULTIGPU, "no")'))
    assert one.fix is not None and one.fix.replacement == "deviceCountAtLeast(2)" and "devices" in one.fix.message


def test_skip_of_what_is_absent_says_nothing_on_a_plain_class() -> None:
    assert found("", plain('unittest.skipIf(TEST_XPU, "gap")')) == []


@pytest.mark.parametrize("decorator", ["onlyAccelerator", "onlyCUDA", "common_device_type.onlyAccelerator"])
def test_method_decorator_on_a_class(decorator: str) -> None:
    (one,) = found("HW504", f"@{decorator}\nclass A(TestCase):\n    def test_a(self, device): ...\n")
    assert one.severity == "error"


def test_serial_test_with_a_lazy_flag() -> None:
    (one,) = found("HW505", plain("serialTest(TEST_ACCELERATOR)"))
    assert one.fix is not None and one.fix.applicability == "safe"
    assert one.fix.replacement == "serialTest(bool(TEST_ACCELERATOR))" and one.fix.span == one.span
    for fine in ("serialTest(TEST_CUDA)", "serialTest()", "serialTest(bool(TEST_ACCELERATOR))"):
        assert found("HW505", plain(fine)) == [], fine


def test_import_time_gates() -> None:
    text = """
    import sys

    if not TEST_CUDA:
        sys.exit(0)

    if TEST_CUDA:
        class A(TestCase):
            def test_a(self): ...

        class B(TestCase):
            def test_b(self): ...
    """
    block, end = sorted(found("HW506", text), key=lambda f: f.symbol == "")
    assert (block.symbol, len(block.related), block.severity) == ("A", 1, "warning")
    assert "ends the import" in end.message and end.severity == "warning"


def test_a_guard_in_the_main_block_and_one_that_keeps_nothing_away() -> None:
    text = """
    DEVICES = ["cpu"]
    if TEST_CUDA:
        DEVICES.append("cuda")

    class A(TestCase):
        def test_a(self): ...

    if __name__ == "__main__":
        if HAS_GPU:
            run_tests()
    """
    (one,) = found("HW506", text)
    assert "HAS_GPU decides" in one.message and one.severity == "warning"


def test_a_class_for_the_device_may_stand_behind_its_gate() -> None:
    text = """
    if TEST_CUDA:
        class A(TestCase):
            hw_classification = HardwareClassification.CUDA

            def test_a(self, device): ...

        instantiate_device_type_tests(A, globals(), only_for="cuda")
    """
    assert found("HW506", text) == []


def test_has_gpu_is_one_warning_of_hw203() -> None:
    text = """
    class A(TestCase):
        @unittest.skipIf(not HAS_GPU, "no")
        def test_a(self): ...

        @unittest.skipIf(not HAS_GPU, "no")
        def test_b(self): ...
    """
    (one,) = check("devices.HW203", MORE + textwrap.dedent(text))
    assert (one.symbol, one.severity, len(one.related)) == ("HAS_GPU", "warning", 1)
