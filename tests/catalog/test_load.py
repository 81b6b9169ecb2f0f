"""The loader: what each table gives, how names are found, and what a configured back end adds."""

from __future__ import annotations

import pickle

import pytest

from hwlint.catalog import Backend, load_catalog

CATALOG = load_catalog()
COMMON = "torch.testing._internal."


def test_one_catalog_for_the_same_back_ends() -> None:
    assert load_catalog() is CATALOG
    assert load_catalog((Backend("npu"),)) is load_catalog((Backend("npu"),))


def test_catalog_is_small_when_sent_to_another_process() -> None:
    full = load_catalog((Backend("npu"),))
    assert full.apis
    sent = pickle.dumps(full)
    assert len(sent) < 2000
    assert pickle.loads(sent).backends.keys() == full.backends.keys()


def test_tables_are_read_only() -> None:
    with pytest.raises(TypeError):
        CATALOG.apis["x"] = CATALOG.apis["torch.cuda.synchronize"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "kind", "replacement", "since"),
    [
        ("torch.cuda.synchronize", "same", "torch.accelerator.synchronize", "2.6"),
        ("torch.cuda.current_device", "renamed", "torch.accelerator.current_device_index", "2.6"),
        ("torch.cuda.device", "renamed", "torch.accelerator.device_index", "2.8"),
        ("torch.cuda.empty_cache", "same", "torch.accelerator.empty_cache", "2.9"),
        ("torch.xpu.mem_get_info", "renamed", "torch.accelerator.get_memory_info", "2.10"),
        ("torch.cuda.CUDAGraph", "renamed", "torch.accelerator.Graph", "2.12"),
        ("torch.cuda.get_rng_state", "same", "torch.accelerator.random.get_rng_state", "2.14"),
        ("torch.cuda.manual_seed_all", "no_wrapper", "torch.get_device_module(device).manual_seed_all", ""),
        ("torch.cuda.Stream", "no_wrapper", "torch.Stream", ""),
        ("torch.cuda.cudart", "vendor_only", "", ""),
        ("torch.mps.current_allocated_memory", "renamed", "torch.accelerator.memory_allocated", "2.9"),
        # through a submodule that only re-exports
        ("torch.cuda.memory.empty_cache", "same", "torch.accelerator.empty_cache", "2.9"),
        ("torch.xpu.streams.Event", "no_wrapper", "torch.Event", ""),
        # through a prefix
        ("torch.cuda.nvtx.range_push", "vendor_only", "", ""),
        ("torch.backends.cuda.matmul.allow_tf32", "vendor_only", "", ""),
        ("torch._C._cuda_getDevice", "vendor_only", "", ""),
        ("torch.cuda._lazy_init", "vendor_only", "", ""),
        # a module that is not in the tree
        ("torch.hpu.synchronize", "same", "torch.accelerator.synchronize", "2.6"),
    ],
)
def test_find_api(name: str, kind: str, replacement: str, since: str) -> None:
    entry = CATALOG.find_api(name)
    assert entry is not None
    assert (entry.kind, entry.replacement, entry.since) == (kind, replacement, since)


@pytest.mark.parametrize("name", ["torch.cuda", "torch.cuda.no_such_name", "torch.ones", "os.path", "synchronize", ""])
def test_find_api_unknown(name: str) -> None:
    assert CATALOG.find_api(name) is None


def test_what_a_codemod_has_to_know_of_an_api() -> None:
    synchronize = CATALOG.apis["torch.cuda.synchronize"]
    assert synchronize.drop_in and synchronize.raises_without_accelerator and synchronize.positional_only
    capability = CATALOG.apis["torch.cuda.get_device_capability"]
    assert not capability.drop_in and "dict" in capability.returns_differ
    count = CATALOG.apis["torch.cuda.device_count"]
    assert count.drop_in and not count.raises_without_accelerator
    assert CATALOG.accelerator_apis["torch.accelerator.set_device_idx"].deprecated_for.endswith("set_device_index")


def test_names_of_other_versions_say_so() -> None:
    assert CATALOG.apis["torch.xpu.get_stream"].until == "2.6"
    assert CATALOG.apis["torch.xpu.memory_usage"].introduced == "2.13"
    assert CATALOG.decorators["onlyAccelerator"].since == "2.13"
    assert CATALOG.flags["HAS_CUDA"].until == "2.8"


def test_decorators_by_bare_and_qualified_name() -> None:
    only_cuda = CATALOG.decorators["onlyCUDA"]
    assert CATALOG.decorators[f"{COMMON}common_device_type.onlyCUDA"] is only_cuda
    assert (only_cuda.role, only_cuda.devices, only_cuda.generic_form) == ("whitelist", ("cuda",), "onlyAccelerator")
    assert CATALOG.decorators["deviceCountAtLeast"].parameter == "devices"
    assert CATALOG.decorators["serialTest"].needs_bool


def test_the_module_tells_two_decorators_of_one_name_apart() -> None:
    called = CATALOG.find_decorator(f"{COMMON}inductor_utils.requires_gpu")
    bare = CATALOG.find_decorator(f"{COMMON}triton_utils.requires_gpu")
    assert called is not None and bare is not None
    assert called.called and not bare.called


def test_a_re_exported_name_is_found() -> None:
    flag = CATALOG.find_flag(f"{COMMON}common_cuda.TEST_CUDA")
    assert flag is CATALOG.flags["TEST_CUDA"]
    assert CATALOG.find_decorator("elsewhere.onlyCUDA") is None
    assert CATALOG.find_flag("my.module.TEST_CUDA") is None
    triton = CATALOG.find_flag(f"{COMMON}inductor_utils.has_triton")
    assert triton is CATALOG.flags["torch.utils._triton.has_triton"]
    multi = CATALOG.find_base(f"{COMMON}distributed._tensor.common_dtensor.MultiProcessTestCase")
    assert multi is CATALOG.framework_bases[f"{COMMON}common_distributed.MultiProcessTestCase"]
    plain = CATALOG.find_base(f"{COMMON}common_device_type.TestCase")
    assert plain is CATALOG.framework_bases[f"{COMMON}common_utils.TestCase"]
    inductor = CATALOG.find_base("torch._inductor.test_case.TestCase")
    assert inductor is not None and inductor.kind == "inductor"
    assert CATALOG.find_base("elsewhere.MultiProcessTestCase") is None


@pytest.mark.parametrize(
    ("name", "asks", "device", "lazy"),
    [
        ("TEST_CUDA", "device", "cuda", False),
        ("TEST_ACCELERATOR", "accelerator", "accelerator", True),
        ("TEST_MULTIGPU", "count", "cuda", False),
        ("TEST_MULTIACCELERATOR", "count", "accelerator", True),
        ("SM80OrLater", "capability", "cuda", True),
        ("TEST_CUDNN", "library", "cuda", True),
        ("HAS_GPU", "accelerator", "accelerator", False),
        ("TEST_WITH_ROCM", "platform", "cuda", False),
        ("IS_WINDOWS", "platform", "", False),
        ("TEST_WITH_TORCHDYNAMO", "mode", "", False),
        ("GPU_TYPE", "value", "accelerator", False),
        ("torch.cuda.is_available", "device", "cuda", False),
        ("torch.distributed.is_nccl_available", "library", "cuda", False),
        ("torch.hpu.device_count", "count", "hpu", False),
    ],
)
def test_flags(name: str, asks: str, device: str, lazy: bool) -> None:
    flag = CATALOG.flags[name]
    assert (flag.asks, flag.device, flag.lazy) == (asks, device, lazy)
    assert flag.is_device_value == (asks == "value")
    assert flag.callable == ("." in name)


def test_framework_bases() -> None:
    bases = CATALOG.framework_bases
    assert bases[f"{COMMON}common_utils.TestCase"].is_test_case
    assert not bases["unittest.TestCase"].is_test_case
    dtensor = bases[f"{COMMON}distributed._tensor.common_dtensor.DTensorTestBase"]
    assert dtensor.accelerator_fixture and dtensor.device_attribute == "device_type"
    assert dtensor.on_device_type
    assert not any(base.on_device_type for base in bases.values() if not base.accelerator_fixture)
    assert not any(base.starts for base in bases.values() if not (base.accelerator_fixture and base.decides))
    assert not bases[f"{COMMON}common_distributed.MultiProcessTestCase"].accelerator_fixture
    old = bases[f"{COMMON}common_distributed.MultiProcContinousTest"]
    assert old is bases[f"{COMMON}common_distributed.MultiProcContinuousTest"]


def test_small_tables() -> None:
    assert CATALOG.profiler["ProfilerActivity.CUDA"].device == "cuda"
    assert CATALOG.profiler["cuda_time_total"].keep
    assert CATALOG.collectives["nccl"].vendor == "cuda"
    assert CATALOG.collectives["gloo"].vendor == ""
    assert CATALOG.tensor_types["torch.cuda.FloatTensor"].dtype == "torch.float32"
    assert {place.name for place in CATALOG.name_keys} >= {"dynamo_expected_failures", "slow_tests"}
    skip = next(r for r in CATALOG.skip_replacements if r.source == "TEST_MULTIGPU")
    assert (skip.decorator, skip.parameter) == ("deviceCountAtLeast", "devices")


def test_a_configured_back_end() -> None:
    npu = Backend("npu", module="torch_npu.npu", decorators=("onlyNPU",), collective="hccl")
    catalog = load_catalog((npu,))
    known = catalog.backends["npu"]
    assert (known.suffix, known.tensor_method, known.is_attribute) == ("PRIVATEUSE1", "npu", "is_npu")
    for module in ("torch_npu.npu", "torch.npu"):
        assert catalog.device_modules[module].name == "npu"
        api = catalog.find_api(f"{module}.set_device")
        assert api is not None and api.replacement == "torch.accelerator.set_device_index"
        assert catalog.flags[f"{module}.is_available"].device == "npu"
    assert catalog.decorators["onlyNPU"].devices == ("npu",)
    assert catalog.collectives["hccl"].devices == ("hpu", "npu")
    assert "npu" in catalog.private_use_names
    assert "npu" not in CATALOG.backends and "onlyNPU" not in CATALOG.decorators


def test_a_configured_name_alone_is_enough() -> None:
    catalog = load_catalog((Backend("fancy"),))
    assert catalog.device_modules["torch.fancy"].name == "fancy"
    assert "fancy" in catalog.device_types and "fancy" in catalog.private_use_names


def test_configuration_adds_to_a_known_back_end() -> None:
    hpu = load_catalog((Backend("hpu", decorators=("requiresHPU",)),)).backends["hpu"]
    assert hpu.decorators == ("onlyHPU", "requiresHPU")
    assert (hpu.suffix, hpu.module, hpu.collective) == ("HPU", "torch.hpu", "hccl")


def test_device_types_of_strings() -> None:
    assert {"cpu", "cuda", "meta", "privateuse1", "npu"} <= CATALOG.device_types
    assert "gpu" not in CATALOG.device_types
