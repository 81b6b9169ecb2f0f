"""What is about one vendor's device by its words."""

from __future__ import annotations

import pytest

from hwlint.catalog import load_catalog
from hwlint.catalog.claims import claim, class_claim, gate_claim, profiled_claim, vendor_members


@pytest.mark.parametrize(
    "text",
    ["isnan", "is_nan", "a NaN here", "2 ulp", "cuDNN", "DeterministicGuard", "SM90", "CUDACodeCache", "CudaStep"],
)
def test_claims(text: str) -> None:
    assert claim().search(text)


@pytest.mark.parametrize("text", ["finance", "sassy", "CUDA_HOME", "cuda", "small", "nanny", "assertEqual"])
def test_other_words(text: str) -> None:
    assert not claim().search(text)


def test_classes_of_one_vendor() -> None:
    assert class_claim().match("CudaInterface") and class_claim().match("XPUCombined")
    assert not class_claim().match("MpsTest".lower()) and not class_claim().match("TEST_CUDA")


def test_gates_and_events() -> None:
    assert gate_claim().search("not HAS_NVCC") and gate_claim().search("torch.version.hip")
    assert not gate_claim().search("chip_count") and not gate_claim().search("IS_WINDOWS")
    assert profiled_claim().search("cudaLaunchKernel") and not profiled_claim().search("aten::add")
    assert "cuda_stream" in vendor_members() and "stream_id" not in vendor_members()


def test_what_onlyaccelerator_keeps_out() -> None:
    found = load_catalog().non_accelerators
    assert {"cpu", "meta"} <= found
    assert not found & {"cuda", "xpu", "mps", "hpu", "privateuse1"}


def test_forms_on_any_accelerator_are_there() -> None:
    catalog = load_catalog()
    for entry in catalog.decorators.values():
        if entry.library_form:
            generic = catalog.decorators[entry.library_form]
            assert generic.devices == ("accelerator",) and generic.library == "triton"
            assert set(generic.modules) <= {"torch.testing._internal.triton_utils"}
    for flag in catalog.flags.values():
        if flag.generic_form and (flag.asks == "count" or flag.library == "triton"):
            assert flag.generic_form in catalog.flags
