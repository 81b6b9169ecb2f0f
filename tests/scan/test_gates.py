"""Gates: what a skip or guard asks for, in each of its forms."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwlint.catalog import load_catalog
from hwlint.scan import devices, gates
from hwlint.scan.context import ScanContext
from hwlint.scan.facts import Constant, Gate, Requirement, Span
from hwlint.scan.names import Names

UTILS = "torch.testing._internal.common_utils"
IMPORTS = {
    "torch": "torch",
    "dist": "torch.distributed",
    "unittest": "unittest",
    "pytest": "pytest",
    "sys": "sys",
    "functools": "functools",
    "plain_skip_if": "unittest.skipIf",
    "HAS_GPU": "torch.testing._internal.inductor_utils.HAS_GPU",
    "HAS_CUDA": "torch.testing._internal.inductor_utils.HAS_CUDA",
    "common_utils": UTILS,
    "TEST_CUDNN": "torch.testing._internal.common_cuda.TEST_CUDNN",
    "TEST_MULTIGPU": "torch.testing._internal.common_cuda.TEST_MULTIGPU",
    "SM80OrLater": "torch.testing._internal.common_cuda.SM80OrLater",
    "DEVICE_COUNT": "torch.testing._internal.common_fsdp.DEVICE_COUNT",
    "requires_gpu": "torch.testing._internal.inductor_utils.requires_gpu",
    **{
        n: f"{UTILS}.{n}"
        for n in ("NOTEST_CPU", "TEST_CUDA", "TEST_XPU", "TEST_WITH_ROCM", "IS_WINDOWS", "TEST_NUMPY", "skipIfRocm")
    },
    **{n: f"{UTILS}.{n}" for n in ("requires_cuda", "skip_but_pass_in_sandcastle_if", "skipIfXpu", "run_tests")},
    **{
        n: f"torch.testing._internal.common_device_type.{n}"
        for n in (
            "onlyCUDA",
            "onlyCPU",
            "onlyOn",
            "onlyAccelerator",
            "skipCUDAIf",
            "skipMeta",
            "deviceCountAtLeast",
            "skipIf",
        )
        + ("largeTensorTest", "skipCUDAIfNoMagma", "dtypes")
    },
    **{
        n: f"torch.testing._internal.common_distributed.{n}"
        for n in ("requires_nccl", "requires_gloo", "skip_if_lt_x_gpu")
    },
}
NOWHERE = Span(1, 0, 1, 0)


def context(text: str = "", **constants: Constant) -> ScanContext:
    catalog = load_catalog()
    return ScanContext(Names("test.test_x", dict(IMPORTS)), catalog, constants, {}, devices.hit_lines(text, catalog))


def short(requirements: tuple[Requirement, ...]) -> list[str]:
    return [("not " if r.absent else "") + f"{r.kind}:{r.value}" for r in requirements]


def condition(source: str, where: ScanContext | None = None) -> tuple[list[str], str]:
    requirements, combine = gates.read_condition(ast.parse(source, mode="eval").body, where or context())
    return short(requirements), combine


@pytest.mark.parametrize(
    ("source", "requirements", "combine"),
    [
        ("TEST_CUDA", ["device:cuda"], ""),
        ("not TEST_CUDA", ["not device:cuda"], ""),
        ("not not TEST_CUDA", ["device:cuda"], ""),
        ("common_utils.TEST_CUDA", ["device:cuda"], ""),
        ("torch.cuda.is_available()", ["device:cuda"], ""),
        ("torch.accelerator.is_available()", ["accelerator:accelerator"], ""),
        ("bool(torch.xpu.is_available())", ["device:xpu"], ""),
        ("HAS_GPU", ["accelerator:accelerator", "library:triton"], ""),
        ("not HAS_GPU", ["not accelerator:accelerator"], ""),
        ("TEST_CUDNN", ["library:cudnn", "device:cuda"], ""),
        ("TEST_MULTIGPU", ["count:2", "device:cuda"], ""),
        ("SM80OrLater", ["capability:sm_80", "device:cuda"], ""),
        ("TEST_CUDA and TEST_XPU", ["device:cuda", "device:xpu"], "all"),
        ("TEST_CUDA or TEST_XPU", ["device:cuda", "device:xpu"], "any"),
        ("not (TEST_CUDA and TEST_XPU)", ["not device:cuda", "not device:xpu"], "any"),
        ("not (TEST_CUDA or TEST_XPU)", ["not device:cuda", "not device:xpu"], "all"),
        ("TEST_CUDA and (TEST_XPU or IS_WINDOWS)", ["device:cuda", "device:xpu", "platform:IS_WINDOWS"], "mixed"),
        ("TEST_CUDA and TEST_CUDA", ["device:cuda"], ""),
        ("TEST_CUDA and True", ["device:cuda"], ""),
        ("TEST_CUDA or False", ["device:cuda"], ""),
        ("any([TEST_CUDA, TEST_XPU])", ["device:cuda", "device:xpu"], "any"),
        ("torch.cuda.device_count() >= 2", ["count:2", "device:cuda"], ""),
        ("torch.cuda.device_count() > 1", ["count:2", "device:cuda"], ""),
        ("1 < torch.cuda.device_count()", ["count:2", "device:cuda"], ""),
        ("torch.cuda.device_count() < 2", ["not count:2"], ""),
        ("torch.cuda.device_count() <= 1", ["not count:2"], ""),
        ("not torch.cuda.device_count() < 2", ["count:2", "device:cuda"], ""),
        ("torch.cuda.device_count() == 0", ["not device:cuda"], ""),
        ("torch.cuda.device_count() > 0", ["device:cuda"], ""),
        ("torch.cuda.device_count() >= n", ["count:?", "device:cuda"], ""),
        ("torch.accelerator.device_count() >= 4", ["count:4", "accelerator:accelerator"], ""),
        ("DEVICE_COUNT < 4", ["not count:4"], ""),
        ("torch.cuda.get_device_capability() >= (8, 0)", ["capability:sm_80", "device:cuda"], ""),
        ("torch.cuda.get_device_capability() < (9, 0)", ["not capability:sm_90"], ""),
        ("torch.cuda.get_device_capability()[0] >= 8", ["capability:sm_80", "device:cuda"], ""),
        ("torch.version.cuda is None", ["not device:cuda"], ""),
        ("torch.version.hip is not None", ["platform:rocm", "device:cuda"], ""),
        ("TEST_WITH_ROCM", ["platform:rocm", "device:cuda"], ""),
        ("dist.is_nccl_available()", ["library:nccl", "device:cuda"], ""),
        ('dist.is_backend_available("nccl")', ["library:nccl", "device:cuda"], ""),
        ('device == "cuda"', ["device:cuda"], ""),
        ('device != "cpu"', ["not device:cpu"], ""),
        ('"cuda" in device', ["device:cuda"], ""),
        ('self.device_type in ("cuda", "xpu")', ["device:cuda", "device:xpu"], "any"),
        ('torch.device(device).type == "cuda"', ["device:cuda"], ""),
        ('device.startswith("cuda")', ["device:cuda"], ""),
        ("some_flag", ["unknown:some_flag"], ""),
        ("TEST_CUDA and some_flag", ["device:cuda", "unknown:some_flag"], "all"),
        ("torch.cuda.can_do_this(0)", ["capability:torch.cuda.can_do_this", "device:cuda"], ""),
        ("NOTEST_CPU", ["not device:cpu"], ""),
        ("lambda: TEST_CUDA", ["device:cuda"], ""),
        ("True", [], ""),
        ("1 if torch.cuda.is_available() else 2", ["unknown:1 if torch.cuda.is_available() else 2"], ""),
        ("max(2, torch.cuda.device_count())", ["unknown:max(2, torch.cuda.device_count())"], ""),
        ("torch.cuda.get_arch_list()[0] == x", ["capability:get_arch_list", "device:cuda"], ""),
        ("x in torch.cuda.something()", ["capability:torch.cuda.something", "device:cuda"], ""),
        ("torch.version.hip.split('.') > x", ["platform:rocm", "device:cuda"], ""),
    ],
)
def test_condition(source: str, requirements: list[str], combine: str) -> None:
    assert condition(source) == (requirements, combine)


@pytest.mark.parametrize(
    ("source", "same"),
    [
        ("TEST_CUDA and (TEST_CUDA or TEST_XPU)", "TEST_CUDA"),
        (
            "torch.cuda.is_available() and (torch.version.cuda is not None or torch.version.hip is not None)",
            "TEST_CUDA",
        ),
        ("TEST_XPU or (TEST_CUDA and TEST_XPU)", "TEST_XPU"),
        ("IS_WINDOWS and TEST_CUDA and (TEST_XPU or TEST_CUDA)", "IS_WINDOWS and TEST_CUDA"),
    ],
)
def test_what_holds_by_another_part_alone_adds_nothing(source: str, same: str) -> None:
    assert condition(source) == condition(same)
    assert condition("TEST_CUDA and (not TEST_CUDA or TEST_XPU)") != condition("TEST_CUDA")


def test_condition_on_a_constant_of_the_module() -> None:
    alias = Constant("RUN", NOWHERE, requirements=(Requirement("device", "cuda"),))
    both = Constant(
        "BOTH", NOWHERE, requirements=(Requirement("device", "cuda"), Requirement("device", "xpu")), combine="any"
    )
    mixed = Constant("MIXED", NOWHERE, requirements=both.requirements, combine="mixed")
    where = context(RUN=alias, BOTH=both, MIXED=mixed)
    assert condition("not MIXED", where) == (["not device:cuda", "not device:xpu"], "mixed")
    assert condition("MIXED and IS_WINDOWS", where) == (["device:cuda", "device:xpu", "platform:IS_WINDOWS"], "mixed")
    assert condition("not RUN", where) == (["not device:cuda"], "")
    assert condition("not BOTH", where) == (["not device:cuda", "not device:xpu"], "all")


def test_a_module_that_defines_a_flag_itself_is_believed() -> None:
    own = Constant("TEST_CUDA", NOWHERE, requirements=(Requirement("device", "xpu"),))
    assert condition("TEST_CUDA", context(TEST_CUDA=own)) == (["device:xpu"], "")


def test_condition_on_local_names() -> None:
    values = {"there": ast.parse("torch.cuda.is_available()", mode="eval").body}
    found, _ = gates.read_condition(ast.parse("not there", mode="eval").body, context(), values)
    assert short(found) == ["not device:cuda"]


def test_a_measurement_kept_in_a_local_name_is_no_gate() -> None:
    assert body("used = torch.cuda.memory_used()\nif used > before:\n    return\nf()") == []


@given(
    st.recursive(
        st.sampled_from(["TEST_CUDA", "TEST_XPU", "IS_WINDOWS", "flag", "True", "torch.cuda.device_count() > 1"]),
        lambda inner: st.one_of(
            inner.map("not ({})".format),
            st.tuples(inner, inner).map(lambda p: f"({p[0]}) and ({p[1]})"),
            st.tuples(inner, inner).map(lambda p: f"({p[0]}) or ({p[1]})"),
        ),
        max_leaves=6,
    )
)
def test_double_negation_changes_nothing(source: str) -> None:
    assert condition(f"not (not ({source}))") == condition(source)


# -- decorators ------------------------------------------------------------------------------------------------------


def decorator(source: str, where: ScanContext | None = None) -> Gate | None:
    node = ast.parse(source, mode="eval").body
    found = gates.decorator_gates([node], where or context(), on_class=False)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("source", "requirements", "combine"),
    [
        ('unittest.skipIf(not TEST_CUDA, "no CUDA")', ["device:cuda"], ""),
        ('unittest.skipUnless(TEST_CUDA, "no CUDA")', ["device:cuda"], ""),
        ('plain_skip_if(not TEST_CUDA, "no CUDA")', ["device:cuda"], ""),
        ('unittest.skipIf(TEST_XPU, "gap")', ["not device:xpu"], ""),
        ('unittest.skipIf(not TEST_CUDA or IS_WINDOWS, "")', ["device:cuda", "not platform:IS_WINDOWS"], "all"),
        ('pytest.mark.skipif(not torch.cuda.is_available(), reason="no")', ["device:cuda"], ""),
        ('skip_but_pass_in_sandcastle_if(not TEST_MULTIGPU, "2 GPUs")', ["count:2", "device:cuda"], ""),
        ("unittest.skipIf(not TEST_CUDNN, 'no')", ["library:cudnn", "device:cuda"], ""),
        ("onlyCUDA", ["device:cuda"], ""),
        ("onlyCPU", ["device:cpu"], ""),
        ('onlyOn(["cuda", "xpu"])', ["device:cuda", "device:xpu"], "any"),
        ('onlyOn("xpu")', ["device:xpu"], ""),
        ("onlyAccelerator", ["accelerator:accelerator"], ""),
        ("requires_cuda", ["device:cuda"], ""),
        ("requires_gpu()", ["accelerator:accelerator", "library:triton"], ""),
        ("requires_nccl()", ["library:nccl", "device:cuda"], ""),
        ("requires_gloo()", ["library:gloo"], ""),
        ("skip_if_lt_x_gpu(2)", ["count:2", "accelerator:accelerator"], ""),
        ("skip_if_lt_x_gpu(x=4)", ["count:4", "accelerator:accelerator"], ""),
        ("deviceCountAtLeast(2)", ["count:2"], ""),
        ("skipMeta", ["not device:meta"], ""),
        ('skipCUDAIf(True, "gap")', ["not device:cuda"], ""),
        ('skipCUDAIf(not SM80OrLater, "sm")', ["not device:cuda", "capability:sm_80"], "any"),
        ("skipIfXpu", ["not device:xpu"], ""),
        ("skipIfRocm", ["not platform:rocm"], ""),
        ("skipCUDAIfNoMagma", ["library:magma"], ""),
        ('largeTensorTest("4GB", device="cuda")', ["capability:memory", "device:cuda"], ""),
    ],
)
def test_decorator(source: str, requirements: list[str], combine: str) -> None:
    gate = decorator(source)
    assert gate is not None
    assert (short(gate.requirements), gate.combine, gate.form) == (requirements, combine, "decorator")


@pytest.mark.parametrize(
    "source",
    [
        'unittest.skipIf(IS_WINDOWS, "no")',
        'unittest.skipIf(not TEST_NUMPY, "no")',
        'unittest.skipIf(flag, "no")',
        "dtypes(torch.float)",
        "some_decorator",
        "largeTensorTest('4GB')",
        "(lambda f: f)",
        "unknown.skipIf",
    ],
)
def test_decorator_that_asks_for_no_device(source: str) -> None:
    assert decorator(source) is None


def test_plain_skip_asks_for_nothing() -> None:
    gate = decorator('unittest.skip("broken")')
    assert gate is not None
    assert (gate.requirements, gate.reason) == ((), "broken")


def test_reason_and_name() -> None:
    gate = decorator('unittest.skipIf(not TEST_CUDA, "needs CUDA here")')
    assert gate is not None
    assert (gate.name, gate.reason) == ("unittest.skipIf(not TEST_CUDA)", "needs CUDA here")


@pytest.mark.parametrize("source", ["needs_gpu", "needs_gpu()", "needs_gpu(2)"])
def test_alias_defined_by_the_module(source: str) -> None:
    alias = Constant("needs_gpu", NOWHERE, requirements=(Requirement("device", "cuda"),))
    gate = decorator(source, context(needs_gpu=alias))
    assert gate is not None and short(gate.requirements) == ["device:cuda"]


def test_partial_of_a_skip() -> None:
    gate = decorator('functools.partial(unittest.skipIf, not TEST_CUDA, "no CUDA")')
    assert gate is not None and short(gate.requirements) == ["device:cuda"]


def test_class_decorator() -> None:
    nodes: list[ast.expr] = [ast.parse("onlyCUDA", mode="eval").body]
    assert [g.form for g in gates.decorator_gates(nodes, context(), on_class=True)] == ["class_decorator"]


# -- bodies ----------------------------------------------------------------------------------------------------------


def body(source: str, name: str = "test_a") -> list[tuple[str, list[str], bool]]:
    text = f"def {name}(self):\n" + textwrap.indent(textwrap.dedent(source), "    ")
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    return [(g.form, short(g.requirements), g.blocking) for g in gates.body_gates(node, context(text))]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('if not TEST_CUDA:\n    self.skipTest("no")\nf()', ("skip_call", ["device:cuda"], True)),
        ("if not TEST_CUDA:\n    raise unittest.SkipTest('no')\nf()", ("raise_skip", ["device:cuda"], True)),
        ("if not TEST_CUDA:\n    return\nf()", ("early_return", ["device:cuda"], True)),
        ("if not TEST_CUDA:\n    print('no')\n    return\nf()", ("early_return", ["device:cuda"], True)),
        ("if TEST_XPU:\n    pytest.skip('gap')\nf()", ("skip_call", ["not device:xpu"], True)),
        ("if TEST_CUDA:\n    f()\nelse:\n    self.skipTest('no')", ("skip_call", ["device:cuda"], True)),
        ("if TEST_CUDA:\n    f()\ng()", ("if_block", ["device:cuda"], False)),
        ("if TEST_CUDA:\n    f()", ("if_block", ["device:cuda"], True)),
        ("x = 1\nif TEST_CUDA:\n    f()", ("if_block", ["device:cuda"], True)),
        ("if TEST_CUDA:\n    f()\nelse:\n    g()", ("if_block", ["device:cuda"], False)),
        ("with f():\n    if not TEST_CUDA:\n        return", ("early_return", ["device:cuda"], True)),
        ("for x in y:\n    if TEST_CUDA:\n        f()", ("if_block", ["device:cuda"], False)),
        (
            "n = torch.cuda.device_count()\nif n < 2:\n    return\nf()",
            ("early_return", ["count:2", "device:cuda"], True),
        ),
        ("if device != 'cuda':\n    self.skipTest('no')\nf()", ("skip_call", ["device:cuda"], True)),
    ],
)
def test_body_gate(source: str, expected: tuple[str, list[str], bool]) -> None:
    assert body(source) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "if IS_WINDOWS:\n    return\nf()",
        "if device == 'cuda':\n    f()\ng()",
        "def g():\n    if not TEST_CUDA:\n        return\nf()",
        "f(TEST_CUDA)",
    ],
)
def test_no_body_gate(source: str) -> None:
    assert body(source) == []


def test_set_up() -> None:
    assert body("super().setUp()\nif not TEST_CUDA:\n    self.skipTest('no')", "setUp") == [
        ("setup", ["device:cuda"], True)
    ]


def test_set_up_that_only_leaves_something_out() -> None:
    assert body("if TEST_CUDA:\n    f()", "setUpClass") == [("if_block", ["device:cuda"], False)]


# -- modules and blocks ----------------------------------------------------------------------------------------------


def module(source: str) -> list[tuple[str, list[str], bool]]:
    text = textwrap.dedent(source)
    return [(g.form, short(g.requirements), g.blocking) for g in gates.module_gates(ast.parse(text), context(text))]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if not torch.cuda.is_available():\n    sys.exit(0)", [("module_exit", ["device:cuda"], True)]),
        ("if not TEST_CUDA:\n    raise unittest.SkipTest('no')", [("module_exit", ["device:cuda"], True)]),
        (
            "if not dist.is_available():\n    print('no')\n    sys.exit(0)",
            [("module_exit", ["library:distributed"], True)],
        ),
        (
            "if __name__ == '__main__':\n    if HAS_GPU:\n        run_tests()",
            [("if_block", ["accelerator:accelerator", "library:triton"], True)],
        ),
        (
            "if __name__ == '__main__':\n    if not TEST_CUDA:\n        sys.exit()\n    run_tests()",
            [("module_exit", ["device:cuda"], True)],
        ),
        ("if TEST_CUDA:\n    names.append('cuda')", [("if_block", ["device:cuda"], False)]),
        ("if __name__ == '__main__':\n    run_tests()", []),
        ("if IS_WINDOWS:\n    sys.exit(0)", []),
        ("if TEST_CUDA:\n    class A: ...", []),
    ],
)
def test_module_gate(source: str, expected: list[tuple[str, list[str], bool]]) -> None:
    assert module(source) == expected


@pytest.mark.parametrize(
    ("source", "negated", "expected"),
    [
        ("TEST_CUDA", False, ["device:cuda"]),
        ("TEST_CUDA", True, ["not device:cuda"]),
        ("not IS_WINDOWS", False, None),
    ],
)
def test_block_gate(source: str, negated: bool, expected: list[str] | None) -> None:
    gate = gates.block_gate(ast.parse(source, mode="eval").body, context(), negated, NOWHERE)
    assert (None if gate is None else short(gate.requirements)) == expected
    assert gate is None or gate.form == "if_class"
