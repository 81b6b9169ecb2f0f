"""accelerator_api: golden pairs byte for byte, and what is refused with which reason."""

# ruff: noqa: E501  # Pairs are read side by side.

from __future__ import annotations

import pytest

from tests.codemods.harness import check_invariants, migrate, reasons

NAME = "accelerator_api"


def class_with(body: str, decorator: str = "@onlyAccelerator", imports: str = "import torch") -> str:
    lines = "".join(f"        {line}\n" if line else "\n" for line in body.split("\n"))
    return (
        f"{imports}\nfrom torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator, onlyCUDA\n"
        f"from torch.testing._internal.common_utils import TestCase\n\n\nclass T(TestCase):\n    {decorator}\n"
        f"    def test_t(self, device):\n{lines}\n\ninstantiate_device_type_tests(T, globals())\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.cuda.synchronize()", "torch.accelerator.synchronize()"),
        ("torch.cuda.synchronize(device=device)", "torch.accelerator.synchronize(device)"),
        ("torch.cuda.synchronize(device)  # wait", "torch.accelerator.synchronize(device)  # wait"),
        ("torch.xpu.empty_cache()", "torch.accelerator.empty_cache()"),
        ("n = torch.cuda.current_device()", "n = torch.accelerator.current_device_index()"),
        ("torch.cuda.set_device(self.rank)", "torch.accelerator.set_device_index(self.rank)"),
        ("torch.cuda.manual_seed_all(0)", "torch.get_device_module(device).manual_seed_all(0)"),
        ("e = torch.cuda.Event(enable_timing=True)", "e = torch.Event(device=device, enable_timing=True)"),
        ("s = torch.cuda.Stream()\nwith torch.cuda.stream(s):\n    pass", "s = torch.Stream(device=device)\nwith torch.get_device_module(device).stream(s):\n    pass"),
        ("torch.cuda.current_stream().synchronize()", "torch.accelerator.current_stream().synchronize()"),
        ("s = torch.cuda.current_stream()", "s = torch.get_device_module(device).current_stream()"),
        ("with torch.cuda.amp.autocast():\n    pass", "with torch.amp.autocast(torch.device(device).type):\n    pass"),
        ("with torch.cuda.amp.autocast(dtype=torch.half):\n    pass", "with torch.amp.autocast(torch.device(device).type, dtype=torch.half):\n    pass"),
        ("g = torch.cuda.amp.GradScaler(2.0)", "g = torch.amp.GradScaler(torch.device(device).type, 2.0)"),
        ("x = torch.ones(1).type(torch.cuda.HalfTensor)", "x = torch.ones(1).to(device, torch.float16)"),
        ("x = torch.cuda.FloatTensor([1, 2])", "x = torch.tensor([1, 2], dtype=torch.float32, device=device)"),
        ("f(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())", "f(torch.accelerator.memory_allocated(), torch.accelerator.memory_reserved())"),
        ("torch.cuda.get_device_properties(0)", "torch.get_device_module(device).get_device_properties(0)"),
    ],
)  # fmt: skip
def test_calls(before: str, after: str) -> None:
    outcome = migrate(class_with(before), NAME)
    check_invariants(outcome, NAME)
    assert outcome.after.decode() == class_with(after), outcome.refusals


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("torch.cuda.nvtx.range_push('x')\ntorch.cuda.synchronize()", "vendor-api"),
        ("x = torch.cuda.get_device_capability()", "result-type"),
        ("x = torch.cuda.get_device_properties(0)", "result-type"),
        ("x = torch.cuda.FloatTensor(2, 3)", "vendor-api"),
        ("s = torch.cuda.Stream(priority=-1)", "vendor-api"),
        ("s = torch.cuda.Stream()\nf(s.cuda_stream)", "vendor-api"),
        ("e = torch.cuda.Event()\nf(e.ipc_handle())", "vendor-api"),
        ("s = torch.cuda.Stream()\ny = torch.ones(1, device=device).__dlpack__(stream=1)", "device-claim"),
        ("s = torch.cuda.current_stream(0)", "result-type"),
        ("s = torch.cuda.current_stream", "result-type"),
        ("x = torch.cuda.amp.autocast(True)", "result-type"),
        ("torch.cuda.set_device(device)", "result-type"),
        ("torch.cuda.synchronize(*a)", "layout"),
        ("torch.cuda.synchronize(**k)", "layout"),
        ("with torch.cuda.device(1):\n    pass", "result-type"),
        ("g = torch.cuda.CUDAGraph()", "result-type"),
    ],
)  # fmt: skip
def test_what_stays(body: str, reason: str) -> None:
    outcome = migrate(class_with(body), NAME)
    assert not outcome.changed
    assert reasons(outcome)["T.test_t"] == reason, outcome.refusals


def test_what_may_run_on_the_cpu_stays() -> None:
    outcome = migrate(class_with("torch.cuda.synchronize()", "# open"), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"T.test_t": "raises-without-accelerator"}


def test_the_name_torch_is_imported_where_it_is_not() -> None:
    before = class_with("synchronize()", imports="from torch.cuda import synchronize")
    outcome = migrate(before, NAME)
    check_invariants(outcome, NAME)
    assert "        torch.accelerator.synchronize()\n" in outcome.after.decode()
    assert "import torch\n" in outcome.after.decode()


def test_traced_streams_stay() -> None:
    body = "def f(x):\n    s = torch.cuda.Stream()\n    return x\n\ntorch.compile(f)(torch.ones(1, device=device))"
    outcome = migrate(class_with(body), NAME)
    assert not outcome.changed
    assert reasons(outcome) == {"T.test_t": "traced"}


@pytest.mark.parametrize(
    ("value", "changed"),
    [
        ("self.rank", True),
        ("dist.get_rank()", True),
        ("torch.device('cpu')", False),
        ("self.rank if self.rank else None", False),
    ],
)
def test_an_index_that_a_property_gives(value: str, changed: bool) -> None:
    member = f"    @property\n    def place(self):\n        return {value}\n\n"
    source = class_with("torch.cuda.set_device(self.place)").replace("    @only", f"{member}    @only", 1)
    outcome = migrate(source, NAME)
    assert outcome.changed == changed
    assert changed == (b"        torch.accelerator.set_device_index(self.place)\n" in outcome.after)
    assert not migrate(source.replace("    @property\n", ""), NAME).changed
    assert not migrate(source.replace("(self.place)", "(self.other)"), NAME).changed
