"""What becomes of gates once a class is instantiated: which go, which stay, which ask any accelerator instead."""

# ruff: noqa: E501  # Pairs are read side by side.

from __future__ import annotations

import pytest

from codemods.device_gates import GatePlan, plan_gates
from codemods.device_values import Blocked
from hwlint.scan.facts import Function, Gate, Requirement, Span
from hwlint.suite.reach import ReachedGate
from tests.codemods.harness import check_invariants, migrate, migrated, reasons

NAME = "device_parameter"
HEAD = """\
import unittest
import torch
import torch.distributed as dist
from torch.testing._internal.common_cuda import SM80OrLater, TEST_MULTIGPU
from torch.testing._internal.common_distributed import skip_if_lt_x_gpu
from torch.testing._internal.common_utils import TEST_CUDA, TEST_PRIVATEUSE1, TEST_XPU, TestCase
from torch.testing._internal.distributed._tensor.common_dtensor import DTensorTestBase
from torch.testing._internal.inductor_utils import GPU_TYPE, HAS_CUDA, HAS_GPU
"""
GATE = '@unittest.skipIf(not TEST_CUDA, "no CUDA")'
COMPILED = 'torch.compile(torch.sin)(torch.ones(1, device="cuda"))'


def class_with(gate: str, body: str = 'torch.ones(1, device="cuda")', before: str = "", more: str = "") -> str:
    """A file with ``before`` above a class ``T`` of one test, and ``more`` members of it."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    return f"{HEAD}{before}\n\nclass T(TestCase):\n{more}    {gate}\n    def test_t(self):\n{lines}"


def changed(source: str) -> str:
    outcome = migrate(source, NAME, unsafe=True, confidence="likely")
    assert outcome.changed, outcome.refusals
    check_invariants(outcome, NAME, unsafe=True)
    return outcome.after.decode()


def gates_after(source: str) -> list[str]:
    """The decorators of the test afterwards."""
    above = changed(source).partition("    def test_t(self, device):\n")[0].rpartition("class T(TestCase):\n")[2]
    return [line.strip() for line in above.splitlines() if line.strip().startswith("@")]


def refusal(source: str) -> tuple[str, str]:
    """The reason why class ``T`` is left as it is, and the text."""
    outcome = migrate(source, NAME, unsafe=True, confidence="likely")
    assert not outcome.changed
    return next((r.reason, r.text) for r in outcome.refusals if r.symbol.partition(".")[0] == "T")


ALIAS = '\nneeds_cuda = unittest.skipUnless(HAS_CUDA, "needs cuda")\n'


@pytest.mark.parametrize(
    ("gate", "before", "after"),
    [
        ("@needs_cuda", ALIAS, "@requires_gpu_and_triton"),
        ('@unittest.skipIf(not HAS_CUDA, "why")', "", '@unittest.skipIf(not HAS_GPU, "why")'),
        ("@unittest.skipUnless(HAS_CUDA, reason='why')", "", "@unittest.skipUnless(HAS_GPU, 'why')"),
    ],
)  # fmt: skip
def test_a_compiled_test_goes_on_asking_for_triton(gate: str, before: str, after: str) -> None:
    assert gates_after(class_with(gate, COMPILED, before)) == ["@onlyAccelerator", after]


def test_a_test_that_is_not_compiled_needs_no_triton() -> None:
    assert gates_after(class_with("@needs_cuda", before=ALIAS)) == ["@onlyAccelerator"]
    assert gates_after(class_with('@unittest.skipUnless(HAS_CUDA and TEST_CUDA, "x")')) == ["@onlyAccelerator"]


def test_an_alias_with_a_reason_of_its_own_stays() -> None:
    before = "\nimport functools\nneeds_cuda = functools.partial(unittest.skipIf, not HAS_CUDA)\n"
    assert refusal(class_with('@needs_cuda("why")', COMPILED, before))[0] == "capability-gate"


def test_no_import_takes_a_name_of_the_file() -> None:
    before = f"{ALIAS}\ndef requires_gpu_and_triton(fn):\n    return fn\n"
    assert refusal(class_with("@needs_cuda", COMPILED, before))[0] == "name-taken"


@pytest.mark.parametrize(
    ("gate", "after"),
    [
        ('@unittest.skipIf(not TEST_MULTIGPU, "two")', '@unittest.skipIf(not TEST_MULTIACCELERATOR, "two")'),
        ('@unittest.skipUnless(TEST_MULTIGPU, "two")', '@unittest.skipUnless(TEST_MULTIACCELERATOR, "two")'),
        ('@unittest.skipIf(torch.cuda.device_count() < 3, "three")', '@unittest.skipIf(torch.accelerator.device_count() < 3, "three")'),
    ],
)  # fmt: skip
def test_a_count_asks_any_accelerator(gate: str, after: str) -> None:
    assert gates_after(class_with(gate)) == ["@onlyAccelerator", after]


@pytest.mark.parametrize(
    ("gate", "before"),
    [
        ('@unittest.skipIf(not TEST_FOUR, "four")', "\nTEST_FOUR = torch.cuda.device_count() >= 4\n"),
        ('@unittest.skipIf(not TEST_MULTIGPU, "four")', "\nTEST_MULTIGPU = torch.cuda.device_count() >= 4\n"),
    ],
)  # fmt: skip
def test_a_count_that_the_catalog_does_not_know_stays(gate: str, before: str) -> None:
    assert refusal(class_with(gate, before=before))[0] == "device-count"


def test_whichever_accelerator_there_is() -> None:
    source = class_with('@unittest.skipIf(not (TEST_CUDA or TEST_PRIVATEUSE1), "x")')
    assert gates_after(source) == ["@onlyAccelerator"]
    assert "instantiate_device_type_tests(T, globals())" in changed(source)


def test_a_gate_of_a_module_of_the_suite_s_own() -> None:
    source = class_with("@pytorch_test_common.skipIfNoCuda").replace(
        "import torch\n", "import pytorch_test_common\nimport torch\n", 1
    )
    assert gates_after(source) == ["@onlyAccelerator"]


def plan_of(devices: str, compiled: bool = False) -> GatePlan:
    """The plan for a test that asks for one of several devices."""
    span = Span(2, 5, 2, 30)
    gate = Gate(span, "decorator", "skipIf(...)", tuple(Requirement("device", d) for d in devices.split()), "any")
    function = Function("test_t", Span(2, 4, 4, 8), 3, "test", ("self",), gates=(gate,))
    return plan_gates([ReachedGate("test_a.py", "test", gate)], function, (), "test_a.py", compiled, None)


def test_xpu_goes_on_running_what_it_ran() -> None:
    assert plan_of("cuda xpu").allow_xpu and not plan_of("cuda privateuse1").allow_xpu
    assert plan_of("cuda xpu").needs_accelerator and len(plan_of("cuda xpu").removed) == 1


@pytest.mark.parametrize(
    ("devices", "compiled"), [("cuda mps", False), ("cuda cpu", False), ("xpu hpu", False), ("cuda xpu", True)]
)
def test_a_device_that_no_class_is_made_for_keeps_the_gate(devices: str, compiled: bool) -> None:
    with pytest.raises(Blocked) as blocked:
        plan_of(devices, compiled)
    assert blocked.value.reason == "compound-gate"


@pytest.mark.parametrize(
    ("condition", "body"),
    [
        ("TEST_CUDA or HAS_CUDA", COMPILED),  # What an alternative implies is not kept: it may be triton.
        ("TEST_CUDA or unknown()", 'torch.ones(1, device="cuda")'),
        ("TEST_CUDA and unknown()", 'torch.ones(1, device="cuda")'),
        ("TEST_CUDA and not TEST_XPU", 'torch.ones(1, device="cuda")'),
    ],
)  # fmt: skip
def test_compound_conditions_that_stay(condition: str, body: str) -> None:
    assert refusal(class_with(f'@unittest.skipIf(not ({condition}), "x")', body))[0] == "compound-gate"


@pytest.mark.parametrize(
    "condition", ["SM80OrLater", "TEST_CUDA and SM80OrLater", "SM80OrLater and unknown()", "SM80OrLater and HAS_GPU"]
)
def test_a_capability_stays_with_all_that_is_asked_beside_it(condition: str) -> None:
    gate = f'@unittest.skipIf(not ({condition}), "x")'
    assert gates_after(class_with(gate)) == ["@onlyAccelerator", gate]


HELPER = "    @skip_if_lt_x_gpu(2)\n    def _run(self, n):\n        return torch.ones(n).cuda()\n\n"


def test_a_count_at_a_helper_stays_and_the_helper_reads_the_device_of_its_class() -> None:
    text = changed(class_with("@skip_if_lt_x_gpu(2)", "self._run(1)\ntorch.ones(1).cuda()", more=HELPER))
    assert HELPER.replace(".cuda()", ".to(self.device_type)") in text


def test_a_count_at_a_helper_alone_says_nothing_of_the_test() -> None:
    source = class_with("@torch.no_grad()", "self._run(1)\ntorch.ones(1).cuda()", more=HELPER)
    assert refusal(source)[0] == "unknown-gate"


def test_a_count_at_a_fixture_stays_and_the_test_with_it() -> None:
    more = "    @skip_if_lt_x_gpu(2)\n    def setUp(self):\n        super().setUp()\n\n"
    assert refusal(class_with("@skip_if_lt_x_gpu(2)", more=more))[0] == "unknown-gate"


CHOICE = 'torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")'


def test_a_choice_of_devices_gives_way_as_a_whole() -> None:
    more = f"    @property\n    def where(self):\n        return {CHOICE}\n\n"
    text = changed(class_with(GATE, f"x = torch.ones(1, device={CHOICE})\nx.to(self.where)", more=more))
    assert "x = torch.ones(1, device=torch.device(device))\n" in text
    assert "        return torch.device(self.device_type)\n" in text


@pytest.mark.parametrize(
    "choice",
    [
        'torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")',
        'torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu", 0)',
        'torch.ones(1).to("cuda") if torch.cuda.is_available() else torch.ones(1).to("cpu")',
    ],
)
def test_a_choice_that_goes_on_asking_for_cuda_stays(choice: str) -> None:
    assert refusal(class_with(GATE, f"x = {choice}"))[0] == "compound-gate"


def test_the_loader_sets_the_device_type() -> None:
    more = '    def setUp(self):\n        super().setUp()\n        self.device_type = "cuda" if torch.cuda.is_available() else "cpu"\n\n'
    text = changed(class_with(GATE, "torch.ones(1).cuda()", more=more))
    assert "    def setUp(self):\n        super().setUp()\n\n    @onlyAccelerator\n" in text


def test_a_text_that_names_a_device_of_a_process_is_no_device() -> None:
    reason, text = refusal(class_with(GATE, 'spec(placements=["worker0/cuda:0"])\ntorch.ones(1).cuda()'))
    assert reason == "unknown-use" and "worker0/cuda:0" in text


def test_a_class_of_one_vendor_keeps_the_test() -> None:
    more = "    def setUp(self):\n        super().setUp()\n        self.interface = CudaTable\n\n"
    source = class_with(GATE, before="from torch._dynamo.device_interface import CudaTable\n", more=more)
    assert "hw_classification = HardwareClassification.CUDA" in migrated(source, unsafe=True)
    # Of one that is not torch's own it is not known.
    source = source.replace("torch._dynamo.device_interface", "torchvision.tables")
    assert refusal(source)[0] == "device-claim"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x.cuda() if self.rank == 0 else None", "y = x.to(device) if self.rank == 0 else None"),
        ("y = x.cuda(device=torch.device(GPU_TYPE))", "y = x.to(device=torch.device(device))"),
        ("y = x.cuda(torch.device('cuda'), non_blocking=True)", "y = x.to(torch.device(device), non_blocking=True)"),
        ("y = x.cuda()\nModel.init(y, deterministic=True)", "y = x.to(device)\n        Model.init(y, deterministic=True)"),
    ],
)  # fmt: skip
def test_moves(before: str, after: str) -> None:
    assert f"        {after}\n" in changed(class_with(GATE, f"x = torch.ones(1)\n{before}"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x.cuda() if use_cuda else x", "compound-gate"),
        ("x.cuda(torch.device(self.rank))", "device-count"),
        ("torch.sum(x.cuda(), deterministic=True)", "device-claim"),
        ("f(x.cuda(), deterministic_only=True)", "device-claim"),
    ],
)
def test_moves_that_stay(line: str, reason: str) -> None:
    assert refusal(class_with(GATE, f"x = torch.ones(1)\n{line}"))[0] == reason


LIST = '@parametrize("n", [1, 2] if {} else [1])\n    '
PARAMETRIZE = "from torch.testing._internal.common_utils import parametrize\n"


def test_a_capability_in_a_parametrization_stays() -> None:
    decorator = LIST.format("SM80OrLater")
    source = class_with(decorator + GATE, before=PARAMETRIZE).replace("def test_t(self)", "def test_t(self, n)")
    assert f"    {decorator}def test_t(self, device, n):\n" in changed(source)
    assert refusal(source.replace("if SM80OrLater", "if TEST_CUDA"))[0] == "unknown-gate"


def test_a_count_in_a_local_name_that_decides_on_something_stays() -> None:
    more = "    @property\n    def many(self):\n        n = torch.cuda.device_count()\n        return n if n > 4 else 4\n\n"
    assert refusal(class_with(GATE, more=more))[0] == "unknown-gate"


BACKEND = "    @property\n    def backend(self):\n        # with offload\n        return {}\n\n"


def distributed(backend: str, gate: str = "@skip_if_lt_x_gpu(2)") -> str:
    source = class_with(gate, more=BACKEND.format(backend))
    return source.replace("class T(TestCase)", "class T(DTensorTestBase)")


def test_a_map_of_default_back_ends_follows_the_device() -> None:
    text = changed(distributed('"cpu:gloo,cuda:nccl"'))
    assert (
        "        # with offload\n"
        "        backend = dist.get_default_backend_for_device(self.device_type)\n"
        '        return f"cpu:gloo,{self.device_type}:{backend}"\n'
    ) in text
    without = distributed('"cpu:gloo,cuda:nccl"').replace("import torch.distributed as dist\n", "")
    assert "backend = torch.distributed.get_default_backend_for_device(" in changed(without)


@pytest.mark.parametrize(
    ("backend", "reason"),
    [
        ('"cpu:gloo,cuda:gloo"', "vendor-api"),
        ('"cpu:gloo,cuda:nccl,xpu:xccl"', "vendor-api"),
        ('"cpu:gloo,cuda:nccl" or self.other', "unknown-use"),
    ],
)
def test_other_maps_of_back_ends_stay(backend: str, reason: str) -> None:
    assert refusal(distributed(backend))[0] in (reason, "device-claim")


def test_reasons_are_those_of_the_class() -> None:
    outcome = migrate(
        class_with("@torch.no_grad()", "self._run(1)\ntorch.ones(1).cuda()", more=HELPER), NAME, unsafe=True
    )
    assert reasons(outcome) == {"T": "unknown-gate"}
