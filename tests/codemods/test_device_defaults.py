"""device_parameter, where a helper takes the device already and falls back on CUDA."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
HEAD = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


"""
GATE = '    @unittest.skipIf(not TEST_CUDA, "no CUDA")\n'


def with_helper(helper: str, *bodies: str, gate: str = GATE) -> str:
    """A class with a test of each body, and a helper of the module above it."""
    tests = "\n".join(f"{gate}    def test_{n}(self):\n        {body}\n" for n, body in enumerate(bodies))
    return f"{HEAD}{helper}\n\n\nclass T(TestCase):\n{tests}"


ONES = """def ones(*size, device="cuda", grad=False):
    return torch.ones(size, device=device, requires_grad=grad)"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ones(2)", "ones(2, device=device)"),
        ("ones()", "ones(device=device)"),
        ("ones(*size)", "ones(*size, device=device)"),
        ("ones(2, grad=True)", "ones(2, grad=True, device=device)"),
        ("ones(2,)", "ones(2, device=device,)"),
        ("ones(\n            2,\n        )", "ones(\n            2,\n            device=device,\n        )"),
        ('ones(2) + ones(2, device="cpu").to(0)', 'ones(2, device=device) + ones(2, device="cpu").to(0)'),
        ('ones(2) + ones(2, device="cuda")', "ones(2, device=device) + ones(2, device=device)"),
        ("(lambda: ones(2))()", "(lambda: ones(2, device=device))()"),
    ],
)  # fmt: skip
def test_each_call_that_left_it_to_the_helper_passes_the_device(before: str, after: str) -> None:
    text = checked(with_helper(ONES, before), NAME, unsafe=True)
    assert "def ones(*size, device, grad=False):" in text
    assert f"        {after}\n" in text


def test_without_a_gate_a_test_that_falls_back_on_it_needs_the_accelerator() -> None:
    text = checked(with_helper(ONES, "ones(2)", gate=""), NAME, unsafe=True)
    assert "    @onlyAccelerator\n    def test_0(self, device):\n        ones(2, device=device)\n" in text
    both = with_helper(ONES, "ones(2)", 'ones(2, device="cpu")', gate="")
    assert reasons(migrate(both, NAME, unsafe=True)) == {"T": "uncertain"}
    noted = ONES.replace("torch.ones(size, device=device", "Layout(size, device=device")
    assert reasons(migrate(with_helper(noted, "ones(2)", gate=""), NAME, unsafe=True)) == {"T": "uncertain"}


METHOD = """\
class T(TestCase):
    def _train(self, model, count: int, device: torch.device = torch.device("cuda")):
        model(torch.ones(count).to(device))

    def _run(self, model):
        self._train(model, 2)

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_a(self):
        self._train(torch.sin, 2)
        self._train(torch.sin, 2, torch.device("cpu"))
        self.each(self._run, [torch.sin])
"""


def test_a_method_that_is_handed_on_asks_the_class() -> None:
    """What is called through another function cannot be passed the device: it passes that of the class."""
    text = checked(HEAD + METHOD, NAME, unsafe=True)
    assert "    def _train(self, model, count: int, device: torch.device):\n" in text
    assert "        self._train(model, 2, device=torch.device(self.device_type))\n" in text
    assert "        self._train(torch.sin, 2, device=torch.device(device))\n" in text
    assert '        self._train(torch.sin, 2, torch.device("cpu"))\n' in text


MODEL = """class Model(torch.nn.Module):
    def __init__(self, size, device="cuda"):
        super().__init__()
        self.bias = torch.ones(size, device=device)"""


def test_a_class_of_the_module_is_made_with_the_device() -> None:
    text = checked(with_helper(MODEL, "Model(2)", 'Model(2, "cuda")'), NAME, unsafe=True)
    assert "    def __init__(self, size, device):\n" in text
    assert "Model(2, device=device)\n" in text and "Model(2, device)\n" in text


ANY_GPU = "from torch.testing._internal.inductor_utils import GPU_TYPE, requires_gpu\n"


def on_any_gpu(*bodies: str) -> str:
    source = with_helper(MODEL, *bodies, gate="    @requires_gpu()\n")
    return source.replace("\n\n\n", f"\n{ANY_GPU}\n\n", 1)


def test_a_default_that_nothing_falls_back_on_names_no_device() -> None:
    """GPU_TYPE is passed wherever it is made: it runs on XPU as well."""
    assert checked(on_any_gpu("Model(2, GPU_TYPE)"), NAME, unsafe=True).endswith("(T, globals(), allow_xpu=True)\n")
    assert checked(on_any_gpu("Model(2).to(GPU_TYPE)"), NAME, unsafe=True).endswith("(T, globals())\n")


def test_one_that_falls_back_on_cuda_stays_apart_from_those_of_any_accelerator() -> None:
    source = on_any_gpu("Model(2)", "torch.zeros(2, device=GPU_TYPE)", "torch.ones(2, device=GPU_TYPE)")
    (refusal,) = migrate(source, NAME, unsafe=True).refusals
    assert refusal.reason == "split" and refusal.text.endswith(
        "CUDA alone, and other tests of the class do not: test_0"
    )
    text = checked(source, "split_class", NAME, unsafe=True, split=True)
    assert "instantiate_device_type_tests(T, globals())\n" in text
    assert "instantiate_device_type_tests(TDevice, globals(), allow_xpu=True)\n" in text


@pytest.mark.parametrize(
    ("helper", "body", "reason"),
    [
        (ONES.replace('"cuda"', '"cuda" if big else "cpu"'), "ones(2)", "unknown-caller"),
        (ONES.replace('"cuda"', 'torch.device("cuda", 1)'), "ones(2)", "unknown-caller"),
        (ONES.replace("*size, ", "size, n=1, "), "ones(2)", "unknown-caller"),
        (ONES.replace("return", 'assert device != "cuda"\n    return'), "ones(2)", "comparison"),
        (ONES.replace("return", 'torch.zeros(1, device="cuda")\n    return'), "ones(2)", "unknown-caller"),
        (ONES.replace("def", "@cached\ndef"), "ones(2)", "unknown-caller"),
        (ONES.replace('device="cuda"', 'device=  # any\n    "cuda"'), "ones(2)", "layout"),
        (ONES, "ones(2, **kwargs)", "unknown-caller"),
        (ONES.replace("*size, ", "size, "), "ones(*args)", "unknown-caller"),
        (ONES, "list(map(ones, [2]))", "unknown-caller"),
        (ONES, "ones(n for n in [2])", "layout"),
        (ONES + "\n\n\nBIG = ones(9)", "ones(2)", "unknown-caller"),
        (MODEL.replace("__init__(self, size", "__init__(self, size=1"), "Model(2)", "shared-helper"),
        (MODEL + "\n\n\nclass Other(Model):\n    pass", "Model(2)", "shared-helper"),
    ],
)  # fmt: skip
def test_what_stays(helper: str, body: str, reason: str) -> None:
    outcome = migrate(with_helper(helper, body), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"T": reason}


def test_a_helper_that_another_file_imports_stays() -> None:
    files = {"test/test_other.py": "from test_sample import ones\n"}
    outcome = migrate(with_helper(ONES, "ones(2)"), NAME, unsafe=True, files=files)
    assert not outcome.changed and reasons(outcome) == {"T": "shared-helper"}


PINNED = with_helper('DEVICE = "cuda"', "torch.ones(2, device=DEVICE)").replace(
    "TestCase):\n", "TestCase):\n    device = DEVICE\n\n"
)


def test_a_class_attribute_that_holds_a_constant_of_the_module_goes() -> None:
    assert "device = DEVICE" not in checked(PINNED, NAME, unsafe=True)


@pytest.mark.parametrize("base", [False, True])
def test_one_that_is_read_stays(base: bool) -> None:
    source = PINNED.replace("torch.ones(2, device=DEVICE)", "torch.ones(2, device=DEVICE).to(self.device)")
    if base:
        source = source.replace(
            "class T(TestCase):\n    device = DEVICE\n\n", "class B(TestCase):\n    device = DEVICE\n\n\nclass T(B):\n"
        )
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "shared-helper"}
