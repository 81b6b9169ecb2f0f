"""Device uses of expressions: which places name a device, with which role."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwlint.catalog import Backend, load_catalog
from hwlint.scan import devices
from hwlint.scan.context import ScanContext
from hwlint.scan.device_words import HIT_NEEDLES
from hwlint.scan.facts import Constant, Span
from hwlint.scan.names import Names

IMPORTS = {
    "torch": "torch",
    "dist": "torch.distributed",
    "amp_autocast": "torch.cuda.amp.autocast",
    "tc": "torch.cuda",
    "ProfilerActivity": "torch.profiler.ProfilerActivity",
    "MLPModule": "torch.testing._internal.distributed._tensor.common_dtensor.MLPModule",
    "GPU_TYPE": "torch.testing._internal.inductor_utils.GPU_TYPE",
    "DEVICE_COUNT": "torch.testing._internal.common_fsdp.DEVICE_COUNT",
    "os": "os",
    "re": "re",
}
NOWHERE = Span(1, 0, 1, 0)


def context(**constants: Constant) -> ScanContext:
    return ScanContext(Names("test.test_x", dict(IMPORTS)), load_catalog(), dict(constants), {}, tuple(range(1, 100)))


def read(source: str, where: ScanContext | None = None) -> list[tuple[str, str, str]]:
    """(construct, role, device) of each use in one statement."""
    (statement,) = ast.parse(source).body
    node = statement.value if isinstance(statement, ast.Expr) else statement
    return [(u.construct, u.role, u.device) for u in devices.expression_uses(node, where or context())]


PLACEMENTS = [
    ('torch.randn(2, device="cuda")', "cuda"),
    ('torch.zeros_like(x, device="cuda:1")', "cuda:1"),
    ('nn.Linear(2, 2, device="xpu")', "xpu"),
    ('x.to("cuda")', "cuda"),
    ('x.to("mps", torch.half)', "mps"),
    ('x.to(device="cuda:0")', "cuda:0"),
    ('torch.device("cuda")', "cuda"),
    ('torch.device(type="cuda", index=0)', "cuda"),
    ('torch.load(f, map_location="cpu")', "cpu"),
    ('torch.load(f, "cpu")', "cpu"),
    ('torch.autocast("cuda")', "cuda"),
    ('torch.autocast(device_type="cuda", dtype=torch.half)', "cuda"),
    ('torch.amp.GradScaler("cuda")', "cuda"),
    ('torch.Generator("cuda")', "cuda"),
    ('torch.Stream(device="cuda")', "cuda"),
    ('torch.get_device_module("xpu")', "xpu"),
    ('torch.set_default_device("cuda")', "cuda"),
    ('dist.init_device_mesh("cuda", (2,))', "cuda"),
    ('helper(device="cuda")', "cuda"),
    ('helper(src_device="cuda")', "cuda"),
    ('dict(device="cuda")', "cuda"),
    ('{"device": "cuda"}', "cuda"),
    ('options["device"] = "cuda"', "cuda"),
    ('os.environ.get("MY_DEVICE", "cuda")', "cuda"),
    ('spec(placements=["rank:1/cuda:1"])', "cuda:1"),
    ('op.sample_inputs("cuda", torch.float)', "cuda"),
    ('MLPModule("cuda")', "cuda"),
]


@pytest.mark.parametrize(("source", "device"), PLACEMENTS)
def test_placement(source: str, device: str) -> None:
    assert read(source) == [("string", "placement", device)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('load(f, {"cpu": "cuda:0"})', [("string", "key", "cpu"), ("string", "placement", "cuda:0")]),
        ('f({"cpu": "cuda", name: "cuda"})', [("string", "key", "cpu")] + [("string", "unknown", "cuda")] * 2),
        ('f({"x": "cuda"})', [("string", "unknown", "cuda")]),
        ("x.cuda()", [("method", "placement", "cuda")]),
        ("x.cuda(1)", [("method", "placement", "cuda")]),
        ("x.cpu().numpy()", [("method", "placement", "cpu")]),
        ("x.xpu()", [("method", "placement", "xpu")]),
        ('x.to(f"cuda:{rank}")', [("fstring", "placement", "cuda:?")]),
        ('x.to("cuda:" + str(rank))', [("fstring", "placement", "cuda:?")]),
        ('x.to("cuda:%d" % rank)', [("fstring", "placement", "cuda:?")]),
        ('x.to("cuda:{}".format(rank))', [("fstring", "placement", "cuda:?")]),
        ('spec(placement=f"rank:{r}/cuda:{r}")', [("fstring", "placement", "cuda:?")]),
        (
            'x.to("cuda" if torch.cuda.is_available() else "cpu")',
            [("string", "placement", "cuda"), ("string", "placement", "cpu")],
        ),
        ("x.to(GPU_TYPE)", [("constant", "placement", "accelerator")]),
        ('x.to(f"{GPU_TYPE}:0")', [("constant", "placement", "accelerator")]),
        ("torch.cuda.FloatTensor(2)", [("tensor_type", "placement", "cuda")]),
        ('x.type("torch.cuda.FloatTensor")', [("tensor_type", "placement", "cuda")]),
        ("isinstance(x, torch.cuda.FloatTensor)", [("tensor_type", "comparison", "cuda")]),
    ],
)
def test_other_constructs_that_place(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('x.device.type == "cuda"', [("string", "comparison", "cuda")]),
        ('"cuda" in str(x.device)', [("string", "comparison", "cuda")]),
        ('x.device.type in ("cuda", "xpu")', [("string", "comparison", "cuda"), ("string", "comparison", "xpu")]),
        ('name.startswith("cuda")', [("string", "comparison", "cuda")]),
        ('self.assertEqual(x.device.type, "cuda")', [("string", "comparison", "cuda")]),
        ('self.assertEqual(x.device, torch.device("cuda:0"))', [("string", "comparison", "cuda:0")]),
        ('x.device != torch.device("cuda")', [("string", "comparison", "cuda")]),
        ("x.is_cuda", [("attribute", "comparison", "cuda")]),
        ("not x.is_mps", [("attribute", "comparison", "mps")]),
        ('{"cpu": 1, "cuda": 2}[device]', [("string", "comparison", "cpu"), ("string", "comparison", "cuda")]),
    ],
)
def test_comparison(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "self.assertExpectedInline(out, \"t(device='cuda')\")",
        'FileCheck().check("buf = empty_strided_cuda, device(type=cuda, index=0)")',
        'self.assertRaisesRegex(RuntimeError, "expected cuda but got cpu")',
        're.search("cuda:0", out)',
        'out.replace("cuda", "gpu")',
        "self.assertIn(\"device='cuda:0'\", out)",
        '"first device: cuda" in message',
        'mock.patch("torch.cuda.is_available", flag)',
    ],
)
def test_text(source: str) -> None:
    assert [use[1] for use in read(source)] == ["text"]


@pytest.mark.parametrize(
    "source",
    [
        'print("on cuda")',
        'self.skipTest("needs cuda:1")',
        'warnings.warn("no cuda")',
        'log.info("cuda")',
        'raise ValueError("cuda is missing")',
        'self.subTest(device="cuda")',
        'hasattr(torch, "cuda")',
        'TestX.test_y_cuda = "a cuda test"',
        '"""About cuda."""',
        'helper("test_foo_cuda")',
        'helper("uses-cuda-things")',
        "import torch.cuda",
        'instantiate_device_type_tests(T, globals(), only_for="cuda")',
        'torch.compile(f, mode="max-autotune-no-cudagraphs")',
    ],
)
def test_no_use(source: str) -> None:
    assert read(source) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('lib.impl("op", fn, "CUDA")', [("string", "key", "cuda")]),
        ('lib.impl("op", fn, "AutogradCUDA")', [("string", "key", "cuda")]),
        ('torch.library.register_kernel("ns::op", "cuda")', [("string", "key", "cuda")]),
        ('torch.library.custom_op("ns::op", device_types="cuda")', [("string", "key", "cuda")]),
        ("fn.py_impl(torch._C.DispatchKey.CUDA)", [("attribute", "key", "cuda")]),
        ('table["cuda"]', [("string", "key", "cuda")]),
        ('{"cuda": 1}', [("string", "key", "cuda")]),
        ('xfail("op", device_type="cuda")', [("string", "key", "cuda")]),
        ('getattr(torch, "cuda")', [("string", "api", "cuda")]),
    ],
)
def test_key(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('torch.empty(2, device="meta")', [("string", "fake", "meta")]),
        ('torch.device("meta")', [("string", "fake", "meta")]),
        ('FakeTensor(mode, x, "cuda")', [("string", "fake", "cuda")]),
        ('dist.init_process_group("fake")', [("backend", "fake", "")]),
    ],
)
def test_fake(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(source) == expected


@pytest.mark.parametrize("source", ['mode = "meta"', 'f("lazy")', 'kind == "fake"', 'f(mode="meta")'])
def test_words_that_are_devices_only_where_a_device_is_asked_for(source: str) -> None:
    assert read(source) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('dist.init_process_group("nccl")', [("backend", "backend", "cuda")]),
        ('dist.init_process_group(backend="gloo")', [("backend", "backend", "")]),
        ('dist.new_group(ranks, None, "nccl")', [("backend", "backend", "cuda")]),
        ('dist.init_process_group("cpu:gloo,cuda:nccl")', [("backend", "backend", "cpu|cuda")]),
        ('backend == "nccl"', [("backend", "comparison", "cuda")]),
        ("dist.ProcessGroupNCCL(store, 0, 1)", [("backend", "backend", "cuda")]),
    ],
)
def test_backend(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("profile(activities=[ProfilerActivity.CUDA])", [("activity", "profiler", "cuda")]),
        ("torch.profiler.ProfilerActivity.XPU", [("activity", "profiler", "xpu")]),
        ("profile(use_cuda=True)", [("profiler_field", "profiler", "cuda")]),
        ('p.key_averages().table(sort_by="self_cuda_time_total")', [("profiler_field", "profiler", "cuda")]),
        ("event.cuda_time_total", [("profiler_field", "profiler", "cuda")]),
    ],
)
def test_profiler(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(source) == expected


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("torch.cuda.synchronize()", "torch.cuda.synchronize"),
        ("tc.empty_cache()", "torch.cuda.empty_cache"),
        ("amp_autocast()", "torch.cuda.amp.autocast"),
        ("torch.cuda.current_stream().wait_stream(s)", "torch.cuda.current_stream"),
        ("torch.backends.cuda.matmul.allow_tf32 = False", "torch.backends.cuda.matmul.allow_tf32"),
        ("torch.backends.cudnn.flags(enabled=False)", "torch.backends.cudnn.flags"),
        ("module = torch.cuda", "torch.cuda"),
        ("range(torch.cuda.device_count())", "torch.cuda.device_count"),
    ],
)
def test_api(source: str, name: str) -> None:
    (statement,) = ast.parse(source).body
    (use,) = devices.expression_uses(statement, context())
    assert (use.construct, use.role, use.name) == ("api", "api", name)


def test_a_count_of_devices_is_no_device() -> None:
    assert read("range(DEVICE_COUNT)") == []


def test_availability_in_a_condition_is_a_gate_and_no_use() -> None:
    assert read("x = 1 if torch.cuda.is_available() else 2") == []


def test_module_constant_that_holds_a_device() -> None:
    where = context(DEV=Constant("DEV", NOWHERE, "cuda", True, "cuda"))
    assert read("x.to(DEV)", where) == [("constant", "placement", "cuda")]


def test_list_of_devices_that_is_looped_over() -> None:
    assert read('for d in ["cpu", "cuda"]:\n    f(d)') == [
        ("string", "parametrization", "cpu"),
        ("string", "parametrization", "cuda"),
    ]


def test_value_of_a_constant() -> None:
    node = ast.parse('"cuda"', mode="eval").body
    (use,) = devices.expression_uses(node, context())
    assert (use.role, use.sure) == ("placement", False)


def test_name_of_a_constant_tells_of_a_filter() -> None:
    node = ast.parse('("cpu", "cuda")', mode="eval").body
    assert {use.role for use in devices.expression_uses(node, context(), name="only_for")} == {"key"}


def test_role_hint() -> None:
    node = ast.parse('["cpu", "cuda"]', mode="eval").body
    assert [use.role for use in devices.expression_uses(node, context(), "placement")] == ["placement", "placement"]


def test_method_span_starts_at_its_name() -> None:
    node = ast.parse("(\n    make()\n    .cuda()\n)", mode="eval").body
    (use,) = devices.expression_uses(node, context())
    assert use.span == Span(3, 5, 3, 11)


def test_span_counts_bytes() -> None:
    node = ast.parse('f("é", device="cuda")', mode="eval").body
    (use,) = devices.expression_uses(node, context())
    assert use.span == Span(1, 15, 1, 21)


@pytest.mark.parametrize(
    ("source", "device"),
    [
        ('"cuda"', "cuda"),
        ('"cuda:1"', "cuda:1"),
        ('torch.device("cuda")', "cuda"),
        ('torch.device("cuda", 1)', "cuda:1"),
        ('torch.device("cuda", rank)', "cuda:?"),
        ('torch.device(f"cuda:{rank}")', "cuda:?"),
        ('"cuda" if torch.cuda.is_available() else "cpu"', "cuda|cpu"),
        ('torch.device("cuda" if TEST_CUDA else "cpu")', "cuda|cpu"),
        ("GPU_TYPE", "accelerator"),
        ('f"{GPU_TYPE}:{rank}"', "accelerator:?"),
        ("torch.accelerator.current_accelerator()", "accelerator"),
        ("torch.accelerator.current_accelerator().type", "accelerator"),
        ("torch.get_device_module()", "accelerator"),
        ('["cpu", "cuda"]', "cpu|cuda"),
        ('["cpu"] + (["cuda"] if TEST_CUDA else [])', "cpu|cuda"),
        ('os.getenv("DEV", "cuda")', "cuda"),
        ('torch.device("meta")', "meta"),
        ("torch.cuda.current_device()", "cuda:?"),
        ("DEVICE_COUNT", ""),
        ('"cudaMalloc"', ""),
        ('"meta"', ""),
        ("f(x)", ""),
        ("torch.device()", ""),
        ('{"cuda": 1}', ""),
        ('"a" + x', ""),
    ],
)
def test_device_of(source: str, device: str) -> None:
    assert devices.device_of(ast.parse(source, mode="eval").body, context()) == device


def test_configured_back_end() -> None:
    catalog = load_catalog((Backend("acme", module="torch_acme.acme", collective="acmeccl"),))
    names = Names("test.test_x", {"torch": "torch", "torch_acme": "torch_acme", "dist": "torch.distributed"})
    where = ScanContext(names, catalog, hit_lines=(1,))
    assert read("x.acme()", where) == [("method", "placement", "acme")]
    assert read('f("acme:0")', where)[0][2] == "acme:0"
    assert read("torch_acme.acme.empty_cache()", where) == [("api", "api", "acme")]
    assert read('dist.init_process_group("acmeccl")', where) == [("backend", "backend", "acme")]
    assert devices.hit_lines('a\nb = "acme"\n', catalog) == (2,)


def test_hit_lines() -> None:
    text = "import os\nx.cuda()\n\ny = 1\r\nif TEST_MPS:\r    pass\n@skipIf(flag)\n"
    assert devices.hit_lines(text, load_catalog()) == (2, 5, 7)


@given(st.lists(st.sampled_from(["x", "cuda", "GPU_TYPE", "\n", "\r\n", "# é", "@onlyCPU", " "]), max_size=30))
def test_hit_lines_are_those_with_a_hit(pieces: list[str]) -> None:
    text = "".join(pieces)
    catalog = load_catalog()
    lines = text.replace("\r\n", "\n").split("\n")
    expected = tuple(at for at, line in enumerate(lines, 1) if any(n in line.lower() for n in HIT_NEEDLES))
    assert devices.hit_lines(text, catalog) == expected
