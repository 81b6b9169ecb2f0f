"""contract_device: tests of an instantiated class take the ``device`` that their label's contract asks for."""

# ruff: noqa: E501  # Rows are read side by side.

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.codemods.harness import check_invariants, migrate, migrated, reasons
from tests.support import check

NAME = "contract_device"
HEAD = """\
import inspect
import unittest
import torch
from torch.testing._internal.common_device_type import (
    deviceCountAtLeast, dtypes, instantiate_device_type_tests, largeTensorTest, onlyNativeDeviceTypes, ops,
)
from torch.testing._internal.common_utils import (
    HardwareClassification, TestCase, parametrize, skipIfMPS, slowTest,
)


"""
BODY = "torch.ones(2, device=self.device_type)"
CALL = "\n\ninstantiate_device_type_tests(T, globals())\n"


def a_test(body: str = BODY, decorators: str = "", parameters: str = "self", name: str = "test_a") -> str:
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    above = "".join(f"    {line}\n" for line in decorators.split("\n") if line)
    return f"{above}    def {name}({parameters}):\n{lines}"


def class_of(*tests: str, call: str = CALL, before: str = "", base: str = "TestCase", first: str = "") -> str:
    return f"{HEAD}{before}class T({base}):\n{first}" + "\n".join(tests or (a_test(),)) + call


TAG = "    hw_classification = HardwareClassification.{}\n\n"


def test_the_class_is_tagged_and_each_test_takes_device() -> None:
    source = class_of(
        a_test(),
        a_test("torch.ones(2, device=device)", parameters="self, device", name="test_b"),
        a_test(
            decorators='@slowTest\n@parametrize("n", [1, 2])\n@dtypes(torch.half)',
            parameters="self, n, dtype",
            name="test_c",
        ),
    )
    outcome = migrate(source, NAME)
    check_invariants(outcome, NAME)
    after = source.replace("class T(TestCase):\n", "class T(TestCase):\n" + TAG.format("ACCELERATOR"))
    after = after.replace("test_a(self)", "test_a(self, device)").replace(
        "(self, n, dtype)", "(self, device, n, dtype)"
    )
    assert outcome.after.decode() == after
    (change,) = outcome.changes
    text = "tag ACCELERATOR, and take `device` in test_a, test_c, which the contract asks for"
    assert (change.description, change.applicability) == (text, "safe")
    assert outcome.clean_after


def test_a_class_that_has_its_tag_gets_the_parameters_alone() -> None:
    source = class_of(first=TAG.format("ACCELERATOR"))
    outcome = migrate(source, NAME)
    assert outcome.after.decode() == source.replace("test_a(self)", "test_a(self, device)")
    assert outcome.changes[0].description == "take `device` in test_a, which the contract asks for"


@pytest.mark.parametrize(
    ("call", "label", "body"),
    [
        ('only_for="cpu"', "CPU", "torch.ones(2).sum()"),
        ('only_for=("cuda",)', "CUDA", "torch.cuda.graph_pool_handle()"),
        ('only_for="xpu", allow_xpu=True', "XPU", 'torch.ones(1, device="xpu")'),
    ],
)
def test_a_class_for_one_device_may_name_it(call: str, label: str, body: str) -> None:
    source = class_of(a_test(body), call=CALL.replace("globals()", f"globals(), {call}"))
    outcome = migrate(source, NAME, confidence="likely")
    check_invariants(outcome, NAME, confidence="likely")
    assert TAG.format(label) + "    def test_a(self, device):\n" in outcome.after.decode(), outcome.refusals


def test_a_label_that_is_likely_is_held_back() -> None:
    source = class_of(a_test("torch.ones(2).sum()"), call=CALL.replace("globals()", 'globals(), only_for="cpu"'))
    outcome = migrate(source, NAME)
    assert not outcome.changed
    assert [c.description for c in outcome.held] == [
        "tag CPU (likely), and take `device` in test_a, which the contract asks for"
    ]


def test_the_setting_leaves_such_classes() -> None:
    outcome = migrate(class_of(), unused_device="refuse")
    assert not outcome.changed
    (refusal,) = outcome.refusals
    assert (refusal.codemod, refusal.reason) == ("tag_class", "contract")
    assert "test_a (line 13) takes no `device`" in refusal.text
    assert '`unused-device = "add"` in [tool.hwlint.migrate]' in refusal.text


NO_DEVICE = a_test("self.assertEqual(1, 1)", name="test_g")


@pytest.mark.parametrize(
    ("source", "reason", "words"),
    [
        (class_of(a_test(), NO_DEVICE), "split", "test_g (line 16) takes no `device`: it does the same on every device"),
        (class_of(a_test('torch.ones(2, device="cuda")')), "mixed-devices", "places on `cuda` itself (line 14)"),
        (class_of(a_test(f"device = 1\n{BODY}")), "name-taken", "a name of its own"),
        (class_of(a_test(f"{BODY}\nprint(device)"), before='device = "cpu"\n\n\n'), "name-taken", "of the module"),
        (class_of(a_test(f"{BODY}\n(lambda: device)()")), "name-taken", "of the module (line 15)"),
        (class_of(a_test(f"{BODY}\nprint(locals())")), "dynamic", "`locals`"),
        (class_of(a_test(f"{BODY}\ntorch.jit.CompilationUnit('def f(): return device')")), "dynamic", "CompilationUnit"),
        (class_of(a_test(parameters="self, *args")), "parametrized", "any arguments"),
        (class_of(a_test(parameters="self, x")), "parametrized", "passes"),
        (class_of(a_test(decorators="@deviceCountAtLeast(2)")), "unknown-caller", "@deviceCountAtLeast"),
        (class_of(a_test(decorators="@skipIfMPS")), "unknown-caller", "@skipIfMPS"),
        (class_of(a_test(decorators="@largeTensorTest(lambda self, n: n)\n@parametrize('n', [1])", parameters="self, n")), "unknown-caller", "@largeTensorTest"),
        (class_of(a_test(decorators="@mine")), "unknown-name", "@mine"),
        (class_of(a_test(decorators="@slowTest"), before="def slowTest(fn):\n    return lambda self: fn(self)\n\n\n").replace("skipIfMPS, slowTest", "skipIfMPS"), "unknown-name", "@slowTest"),
        (class_of(a_test(decorators="@unittest.mock.patch('a.b')", parameters="self, b")), "unknown-name", "patch"),
        (class_of(a_test(), a_test("self.test_a()\n" + BODY, name="test_b")), "unknown-caller", "named on line 17"),
        (class_of(a_test(), a_test("getattr(self, 'test_a')()\n" + BODY, name="test_b")), "unknown-caller", "line 17"),
        (class_of(call=CALL + "\n\nclass U(T):\n    def test_a(self):\n        super().test_a()\n"), "subclassed", "U derives"),
        (class_of(call=CALL + CALL), "already-instantiated", "more than once"),
        (class_of(first="    @classmethod\n    def setUpClass(cls):\n        super().setUpClass()\n\n"), "import-time-gate", "setUpClass"),
        (class_of().replace("    def test_a", "    if True:\n        def test_a").replace("        torch.ones", "            torch.ones"), "layout", "plain `def`"),
    ],
)  # fmt: skip
def test_what_stays(source: str, reason: str, words: str) -> None:
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed
    refusal = next(r for r in outcome.refusals if r.symbol == "T")
    assert (refusal.reason, words in refusal.text) == (reason, True), refusal


def test_set_up_of_the_class_does_not_matter_where_the_name_is_asked_for_already() -> None:
    fixture = "    @classmethod\n    def setUpClass(cls):\n        super().setUpClass()\n\n"
    other = a_test("torch.ones(2, device=device)", parameters="self, device", name="test_b")
    assert "test_a(self, device)" in migrated(class_of(a_test(), other, first=fixture), NAME)


@pytest.mark.parametrize("module", ["torch._dynamo.test_case", "torch._inductor.test_case"])
def test_set_up_that_only_sets_what_all_tests_run_with_may_run_at_import(module: str) -> None:
    source = class_of().replace("import torch\n", f"import torch\nfrom {module} import TestCase as Base\n", 1)
    assert "test_a(self, device)" in migrated(source.replace("class T(TestCase)", "class T(Base)"), NAME)


def test_set_up_that_does_more_may_not() -> None:
    module = "torch.testing._internal.common_distributed"
    source = class_of().replace(
        "import torch\n", f"import torch\nfrom {module} import MultiProcContinousTest as Base\n", 1
    )
    outcome = migrate(source.replace("class T(TestCase)", "class T(Base)"), NAME)
    assert not outcome.changed
    assert any("setUpClass when the file is imported" in r.text for r in outcome.refusals)


def test_a_context_manager_of_torch_hands_the_device_on() -> None:
    source = class_of(a_test(decorators="@torch._dynamo.utils.disable_cache_limit()"))
    assert "test_a(self, device)" in migrated(source, NAME)


def test_nothing_by_halves() -> None:
    """What stands against one test, or against the class beside its tests, stands against all."""
    other = a_test("torch.ones(2, device=device)", "@onlyNativeDeviceTypes", "self, device", "test_b")
    outcome = migrate(class_of(a_test(), other))
    assert not outcome.changed
    (refusal,) = outcome.refusals
    assert refusal.codemod == "tag_class"
    assert "test_b (line 17) has `@onlyNativeDeviceTypes`: take it off if every device may run the test" in refusal.text


def test_a_module_constant_that_holds_a_decorator() -> None:
    source = class_of(a_test(decorators="@sizes", parameters="self, n"), before='sizes = parametrize("n", [1])\n\n\n')
    assert "test_a(self, device, n)" in migrated(source, NAME)


def test_the_first_of_a_file_whose_tests_may_fork_is_unsafe() -> None:
    source = class_of().replace("import unittest\n", "import multiprocessing as mp\nimport unittest\n")
    outcome = migrate(source, NAME)
    assert not outcome.changed
    assert "sets the accelerator up before the tests fork" in outcome.held[0].description
    other = HEAD.replace("import unittest\n", "import multiprocessing as mp\nimport unittest\n") + (
        "class U(TestCase):\n    def test_u(self, device):\n        torch.ones(2, device=device)\n\n\n"
        "instantiate_device_type_tests(U, globals())\n\n\n"
    )
    assert migrate(source.replace(source.partition("class T")[0], other), NAME).changed


def test_the_rule_about_unused_devices_agrees() -> None:
    """HW206 says nothing about a parameter that migrate writes, and everything about one that it would not."""
    assert not check("devices.HW206", migrated(class_of(), NAME), header=False)
    assert check("devices.HW206", class_of(NO_DEVICE.replace("(self)", "(self, device)")), header=False)


@pytest.mark.parametrize(
    ("arguments", "done"),
    [
        ('except_for="cpu"', True),
        ('except_for=("cpu", "hpu"), allow_xpu=True', True),
        ('except_for="hpu"', False),
        ("except_for=LEFT_OUT", False),
    ],
)
def test_a_test_that_never_ran_on_the_cpu_cannot_be_generic(arguments: str, done: bool) -> None:
    """Without the instantiation it would run there: the parameter is all that the contract wants of it."""
    source = class_of(a_test("print(1)"), call=f"\n\ninstantiate_device_type_tests(T, globals(), {arguments})\n")
    outcome = migrate(source, NAME, labels=[("T", "ACCELERATOR")])
    check_invariants(outcome, NAME, labels=[("T", "ACCELERATOR")])
    assert ("def test_a(self, device):" in outcome.after.decode()) == done
    if done:
        assert not check("devices.HW206", outcome.after.decode(), header=False)


def test_a_file_that_asserts_that_no_accelerator_is_set_up() -> None:
    main = '\n\nif __name__ == "__main__":\n    assert not torch.cuda._initialized\n    run_tests()\n'
    assert reasons(migrate(class_of() + main, NAME)) == {"T": "import-time-gate"}
    for_cpu = class_of(call='\n\ninstantiate_device_type_tests(T, globals(), only_for="cpu")\n')
    assert migrate(for_cpu + main, NAME, labels=[("T", "CPU")]).changed
    assert migrate(class_of() + main.replace("torch.cuda._initialized", "DEBUG"), NAME).changed


# Real torch

RUN = """
import json, sys, unittest
sys.path.insert(0, sys.argv[1])
import torch
from torch.testing._internal import common_utils
import sample

class Journal(unittest.TestResult):
    said = {}
    def addSuccess(self, test): self.said[test.id()] = "passed"
    def addSkip(self, test, reason): self.said[test.id()] = "skipped: " + reason
    def addFailure(self, test, error): self.said[test.id()] = "failed"
    def addError(self, test, error): self.said[test.id()] = "error: " + repr(error[1])

unittest.defaultTestLoader.loadTestsFromModule(sample).run(Journal())
print(json.dumps(Journal.said, sort_keys=True))
"""

REAL = """\
import functools
import unittest
import torch
from torch.testing._internal.common_cuda import with_tf32_off
from torch.testing._internal.common_device_type import (
    dtypes, instantiate_device_type_tests, onlyCPU, onlyOn, ops, skipCPUIf,
)
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db, modules
from torch.testing._internal.common_utils import (
    TestCase, decorateIf, parametrize, run_tests, serialTest, skipIfTorchDynamo, slowTest, subtest,
)

FEW = [op for op in op_db if op.name in ("add", "sort")]
sizes = parametrize("n", [1, subtest(2, name="two")])


class KindTest(TestCase):
    def _ones(self):
        return torch.ones(2, device=self.device_type)

    def test_plain(self):
        self.assertEqual(self._ones().device.type, self.device_type)

    def test_given(self, device):
        self.assertEqual(self._ones().device, torch.ones(1, device=device).device)

    @parametrize("n", [1, 2])
    def test_parametrized(self, n):
        self.assertEqual(self._ones().device.type, self.device_type)

    @sizes
    @dtypes(torch.half, torch.long)
    def test_dtypes(self, n, dtype):
        self.assertEqual(self._ones().to(dtype).dtype, dtype)

    @ops(FEW, allowed_dtypes=(torch.float32,))
    def test_ops(self, dtype, op):
        self.assertEqual(next(iter(op.sample_inputs(self.device_type, dtype))).input.device.type, self.device_type)

    @modules([m for m in module_db if m.name == "nn.Linear"], allowed_dtypes=(torch.float32,))
    def test_modules(self, dtype, module_info, training):
        self.assertEqual(self._ones().device.type, self.device_type)

    @decorateIf(unittest.expectedFailure, lambda params: params["n"] == 2)
    @parametrize("n", [1, 2])
    def test_expected(self, n):
        self.assertEqual(self._ones().sum().item(), 2 * n)

    @slowTest
    @serialTest()
    @skipIfTorchDynamo("why")
    @with_tf32_off
    @torch.no_grad()
    @torch._dynamo.config.patch(verbose=False)
    @torch.backends.cudnn.flags(enabled=False)
    def test_wrapped(self):
        self.assertFalse(torch.is_grad_enabled())
        self.assertEqual(self._ones().device.type, self.device_type)

    @skipCPUIf(True, "not there")
    def test_skipped(self):
        self._ones()

    @unittest.skipIf(True, "never")
    def test_never(self):
        self._ones()

    @unittest.expectedFailure
    def test_fails(self):
        self.assertEqual(self._ones().sum().item(), 3)


instantiate_device_type_tests(KindTest, globals())

if __name__ == "__main__":
    run_tests()
"""


def run(python: Path, folder: Path, source: bytes) -> dict[str, str]:
    folder.mkdir()
    (folder / "sample.py").write_bytes(source)
    done = subprocess.run([python, "-c", RUN, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return said


@pytest.mark.torch
def test_names_devices_and_outcomes_stay_what_they_were(torch_python: Path, tmp_path: Path) -> None:
    """The proof for what ``inspect.signature`` decides, with torch itself."""
    outcome = migrate(REAL)
    text = outcome.after.decode()
    assert text.count("(self, device") == text.count("    def test_") == 11, outcome.refusals
    before, after = (
        run(torch_python, tmp_path / "before", REAL.encode()),
        run(torch_python, tmp_path / "after", outcome.after),
    )
    assert before == after
    assert sum(1 for said in before.values() if said == "passed") >= 11


@pytest.mark.torch
@pytest.mark.parametrize(
    "wrapper",
    ["def inner(self):\n        return fn(self)", "def inner(*args, **kwargs):\n        return fn(*args, **kwargs)"],
)
def test_a_decorator_that_hides_the_signature_would_break(torch_python: Path, tmp_path: Path, wrapper: str) -> None:
    """Why decorators that are not known are refused: fixed parameters fail, and so does what does not say ``wraps``."""
    source = class_of(a_test(decorators="@mine"), before=f"def mine(fn):\n    {wrapper}\n\n    return inner\n\n\n")
    assert reasons(migrate(source, NAME)) == {"T": "unknown-name"}
    broken = source.replace("test_a(self)", "test_a(self, device)")
    assert set(run(torch_python, tmp_path / "before", source.encode()).values()) == {"passed"}
    assert "missing 1 required" in next(iter(run(torch_python, tmp_path / "after", broken.encode()).values()))
