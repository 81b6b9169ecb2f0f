"""HW201-HW207: what binds, what does not, and what to write instead."""

from __future__ import annotations

import pytest

from hwlint.config import Settings
from hwlint.findings import Finding
from tests.support import HEADER, PATH, check

OFFSET = HEADER.count("\n")


def found(code: str, text: str, settings: Settings | None = None) -> list[Finding]:
    return check(f"devices.{code}", text, settings)


def lines(findings: list[Finding]) -> list[int]:
    """Lines in the text below the header; its first line is 1 (the one behind the opening quotes)."""
    return [f.span.line - OFFSET for f in findings]


GENERIC = """
class A(TestCase):
    def test_a(self, device):
        {body}

instantiate_device_type_tests(A, globals())
"""


def generic(body: str) -> str:
    return GENERIC.replace("{body}", body.replace("\n", "\n        "))


def test_one_finding_per_literal_and_function() -> None:
    (one,) = found(
        "HW201",
        generic('x = torch.ones(1, device="cuda")\ny = torch.ones(1, device="cuda")\nz = x.to("cuda")'),
    )
    assert lines([one]) == [4]
    assert [r.span.line - OFFSET for r in one.related] == [5, 6]
    assert one.severity == "error" and one.role == "placement" and one.symbol == "A.test_a"
    assert one.fix is not None
    assert (one.fix.replacement, one.fix.applicability, one.fix.span) == ("device", "unsafe", one.span)


@pytest.mark.parametrize(
    "instantiate",
    [
        'instantiate_device_type_tests(A, globals(), only_for="cuda")',
        'instantiate_device_type_tests(A, globals(), only_for=("cuda",))',
    ],
)
def test_at_home_nothing_is_said(instantiate: str) -> None:
    text = generic('x = torch.ones(1, device="cuda").cuda()').replace(
        "instantiate_device_type_tests(A, globals())", instantiate
    )
    assert check("devices", text) == []


@pytest.mark.parametrize("label", ["CUDA", "XPU", "MPS", "CPU", "GENERIC", "ACCELERATOR"])
def test_the_label_decides_what_is_home(label: str) -> None:
    text = f"""
    class A(TestCase):
        hw_classification = HardwareClassification.{label}

        def test_a(self):
            torch.ones(1, device="cuda")
            torch.ones(1).xpu()
            torch.ones(1, device="cpu")
    """
    away = {"CUDA": ["HW202"], "XPU": ["HW201"]}.get(label, ["HW201", "HW202"])
    assert [f.code for f in check("devices", text)] == away


def test_a_helper_binds_when_a_generic_test_reaches_it() -> None:
    text = """
    def helper():
        return torch.ones(1, device="cuda")

    def nobody():
        return torch.ones(1, device="cuda")

    class A(TestCase):
        hw_classification = HardwareClassification.{label}

        def test_a(self):
            helper()
    """
    reached, unreached = found("HW201", text.replace("{label}", "GENERIC"))
    assert (reached.symbol, reached.severity) == ("helper", "error")
    assert (unreached.symbol, unreached.severity) == ("nobody", "info")
    (unreached,) = found("HW201", text.replace("{label}", "CUDA"))
    assert (unreached.symbol, unreached.severity) == ("nobody", "info")


def test_a_gate_and_a_vendor_only_api_make_it_information() -> None:
    body = 'torch.ones(1, device="cuda")\ntorch.cuda.nvtx.range_push("x")'
    text = generic(body).replace("    def test_a", "    @onlyCUDA\n    def test_a")
    (kept,) = found("HW201", text)
    assert kept.severity == "info" and kept.fix is None and "vendor-only" in kept.message
    (bound,) = found("HW201", generic(body))
    assert bound.severity == "error"


def test_the_cpu_is_no_finding() -> None:
    body = 'x = torch.ones(1, device="cpu")\ny = torch.ones(1, device=device).cpu()\nz = x.to("cpu")'
    assert check("devices", generic(body)) == []


def test_cuda_method() -> None:
    (one,) = found("HW202", generic("x = torch.ones(1, device=device).cuda()"))
    assert ".to(device)" in one.message and one.severity == "error"
    assert one.fix is not None and one.fix.span == one.span
    assert (one.fix.replacement, one.fix.applicability) == ("to(device)", "unsafe")


def test_cuda_method_with_an_index_keeps_it() -> None:
    (one,) = found("HW202", generic("x = torch.ones(1, device=device).cuda(1)"))
    assert one.fix is not None and one.fix.replacement is None and "index" in one.message


def test_parametrization_lists_are_information() -> None:
    text = """
    class A(TestCase):
        @parametrize("device", ["cpu", "cuda"])
        def test_a(self, device):
            torch.ones(1, device=device)

    instantiate_parametrized_tests(A)
    """
    (one,) = found("HW201", text)
    assert (one.severity, one.role) == ("info", "parametrization")


def test_a_module_constant_is_one_finding_with_its_readers() -> None:
    text = """
    DEVICE = "cuda"

    class A(TestCase):
        def test_a(self):
            torch.ones(1, device=DEVICE)
            torch.ones(2, device=DEVICE)

        def test_b(self):
            torch.ones(3, device=DEVICE)
    """
    findings = check("devices", text)
    assert [(f.code, f.severity.value, f.symbol) for f in findings] == [("HW203", "error", "DEVICE")]
    assert lines(findings) == [2]
    assert [r.span.line - OFFSET for r in findings[0].related] == [6, 7, 10]
    assert "2 functions" in findings[0].message


def test_gpu_type_is_one_warning_a_file() -> None:
    text = """
    from torch.testing._internal.inductor_utils import GPU_TYPE

    class A(TestCase):
        def test_a(self):
            torch.ones(1, device=GPU_TYPE)

        def test_b(self):
            torch.ones(1).to(GPU_TYPE)
    """
    (one,) = check("devices", text)
    assert (one.code, one.severity, one.symbol) == ("HW203", "warning", "GPU_TYPE")
    assert len(one.related) == 1


def test_comparisons_are_warnings_and_a_bare_type_never_holds() -> None:
    (one,) = found("HW205", generic('if device == "cuda":\n    pass'))
    assert one.severity == "warning" and "never holds" in one.message
    (one,) = found("HW205", generic('if torch.device(device).type == "cuda":\n    pass'))
    assert one.severity == "warning" and "holds for cuda only" in one.message
    assert found("HW205", generic('if device == "cpu":\n    pass')) == []


def test_a_bare_type_may_hold_where_the_device_is_a_parameter_of_another_kind() -> None:
    text = """
    class A(TestCase):
        @parametrize("device", ["cpu", "cuda"])
        def test_a(self, device):
            if device == "cuda":
                pass

    instantiate_parametrized_tests(A)
    """
    assert not any("never" in f.message for f in found("HW205", text))


def test_a_doubled_index_is_said_at_home_too() -> None:
    text = generic('torch.ones(1, device=f"{device}:0")')
    (one,) = found("HW205", text)
    assert "has one already" in one.message
    assert len(found("HW205", text.replace("globals()", 'globals(), only_for="cuda"'))) == 1


def test_unused_device() -> None:
    (one,) = found("HW206", generic("self.assertEqual(torch.ones(1), 1)"))
    assert one.severity == "warning" and one.detail == "unused"
    for used in ("torch.ones(1, device=device)", "pass", "raise NotImplementedError", "use(self.device_type)"):
        assert found("HW206", generic(used)) == [], used


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("self.assertTrue(torch.ones(2))", True),
        ('self.assertTrue(torch.ones(2, device="cuda"))', True),
        ("torch.ones(2, device=self.device_type)", False),
        ("self._ones()", False),
        ("self._plain()", True),
    ],
)
def test_a_device_that_the_test_finds_in_another_way(body: str, found: bool) -> None:
    source = f"""
class T(TestCase):
    def _ones(self):
        return torch.ones(2, device=self.device_type)

    def _plain(self):
        return torch.ones(2)

    def test_a(self, device):
        {body}


instantiate_device_type_tests(T, globals())
"""
    assert bool(check("devices.HW206", source)) == found


def test_an_unused_device_is_what_the_contract_asks_of_a_cuda_class() -> None:
    text = """
    class A(TestCase):
        hw_classification = HardwareClassification.CUDA

        def test_a(self, device):
            torch.ones(1).cuda()

    instantiate_device_type_tests(A, globals(), only_for="cuda")
    """
    assert found("HW206", text) == []


def test_half_converted() -> None:
    (one,) = found("HW206", generic('x = torch.ones(1, device=device) + torch.ones(1, device="cuda")'))
    assert one.detail == "mixed" and one.severity == "warning"


def test_text_is_information() -> None:
    findings = check(
        "devices", generic("x = torch.ones(1, device=device)\nself.assertExpectedInline(str(x), \"device='cuda:0'\")")
    )
    assert [(f.code, f.severity.value) for f in findings] == [("HW207", "info")]


def test_legacy_types() -> None:
    (one,) = found("HW204", generic("x = torch.cuda.DoubleTensor(2)"))
    assert "dtype=torch.float64" in one.message and one.severity == "warning"


def test_a_fixed_index_is_not_replaced_by_the_device() -> None:
    (one,) = found("HW201", generic('torch.ones(1, device="cuda:1")'))
    assert one.fix is not None and one.fix.replacement is None


def test_a_literal_behind_a_local_name() -> None:
    (one,) = found("HW201", generic('d = "cuda"\ntorch.ones(1, device=d)'))
    assert one.fix is not None and one.fix.replacement == "device" and lines([one]) == [4]
    (one,) = found("HW201", generic('device = "cuda"\ntorch.ones(1, device=device)'))
    assert one.fix is not None and one.fix.replacement is None and "drop the assignment" in one.message


def test_golden_text_stops_a_replacement() -> None:
    (one,) = found("HW201", generic('x = torch.ones(1, device="cuda")\nself.assertExpectedInline(str(x), "cuda:0")'))
    assert one.fix is not None and one.fix.applicability == "none" and one.fix.replacement is None


def test_a_base_in_another_file_is_judged_by_the_classes_that_run_it() -> None:
    files = {
        "test/helpers.py": """
            class Mixin:
                def make(self):
                    return torch.ones(1, device="cuda")
            """,
        PATH: """
            from helpers import Mixin

            class A(Mixin, TestCase):
                hw_classification = HardwareClassification.{label}

                def test_a(self):
                    self.make()
            """,
    }
    for label, severities in (("GENERIC", ["error"]), ("CUDA", [])):
        labelled = {path: text.replace("{label}", label) for path, text in files.items()}
        findings = check("devices.HW201", labelled, path="test/helpers.py")
        assert [f.severity.value for f in findings] == severities
