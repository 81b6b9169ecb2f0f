"""HW701-HW703: back ends, ranks and requirements of one vendor."""

from __future__ import annotations

import textwrap

from hwlint.config import Settings
from hwlint.findings import Finding
from tests.support import check

MORE = """
import torch.distributed as dist
from torch.testing._internal.common_distributed import (
    MultiProcessTestCase, MultiThreadedTestCase, requires_gloo, requires_nccl, requires_nccl_version, skip_if_lt_x_gpu,
)
"""


def found(code: str, text: str, settings: Settings | None = None) -> list[Finding]:
    return check(f"distributed.{code}", MORE + textwrap.dedent(text), settings)


def process_test(body: str, decorator: str = "", base: str = "MultiProcessTestCase", label: str = "") -> str:
    lines = [f"class A({base}):"]
    if label:
        lines.append(f"    hw_classification = HardwareClassification.{label}")
    if decorator:
        lines.append(f"    @{decorator}")
    lines += ["    def test_a(self):", *(f"        {line}" for line in body.split("\n"))]
    return "\n".join(lines) + "\n"


def test_vendor_backend() -> None:
    (one,) = found("HW701", process_test('dist.init_process_group("nccl", rank=self.rank)'))
    assert one.severity == "warning" and "get_default_backend_for_device" in one.message
    assert found("HW701", process_test('dist.init_process_group("nccl", rank=self.rank)', label="CUDA")) == []
    for other in ("gloo", "fake"):
        assert found("HW701", process_test(f'dist.init_process_group("{other}", rank=0)')) == [], other


def test_process_group_of_one_vendor() -> None:
    (one,) = found("HW701", process_test("dist.ProcessGroupNCCL(None, 0, 1)"))
    assert "exists for cuda only" in one.message
    (kept,) = found("HW701", process_test("dist.ProcessGroupNCCL(None, 0, 1)", "requires_nccl()"))
    assert kept.severity == "info"


def test_a_property_that_the_base_reads_is_reached() -> None:
    text = """
    class A(MultiProcessTestCase):
        @property
        def backend(self):
            return "nccl"

        def test_a(self):
            pass
    """
    (one,) = found("HW701", text)
    assert one.severity == "warning"


def test_one_index_for_all_ranks() -> None:
    body = 'x = torch.ones(1, device="cuda:0")'
    (one,) = found("HW702", process_test(body, label="ACCELERATOR"))
    assert one.severity == "warning" and "self.rank" in one.message
    (one,) = found("HW702", process_test(body))
    assert one.severity == "info"  # one rank alone may do it, behind a guard
    assert found("HW702", process_test(body, base="MultiThreadedTestCase")) == []
    assert found("HW702", process_test(body, base="TestCase")) == []
    assert found("HW702", process_test(body + '\ny = torch.ones(1, device="cuda:1")')) == []
    assert found("HW702", process_test('x = torch.ones(1, device=f"cuda:{self.rank}")')) == []


def test_requirement_of_one_library_is_one_finding_a_class() -> None:
    text = """
    class A(MultiProcessTestCase):
        @requires_nccl()
        def test_a(self): ...

        @requires_nccl()
        def test_b(self): ...

        @requires_gloo()
        def test_c(self): ...
    """
    (one,) = found("HW703", text)
    assert (one.severity, len(one.related)) == ("warning", 1) and "and 1 more" in one.message
    assert one.fix is not None and one.fix.replacement == "requires_accelerator_dist_backend()"
    (one,) = found("HW703", text, Settings(torch="2.6"))
    assert one.fix is not None and one.fix.replacement is None and "2.8" in one.message


def test_a_version_of_the_library_is_the_subject() -> None:
    (one,) = found("HW703", process_test("pass", 'requires_nccl_version((2, 10), "no")'))
    assert one.severity == "info"


def test_what_counts_any_accelerator_is_left_alone() -> None:
    assert found("", process_test("pass", "skip_if_lt_x_gpu(2)")) == []
