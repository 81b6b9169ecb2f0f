"""split_devices: what is kept to one device goes into a class for it, byte for byte, and what is refused and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codemods.harness import check_invariants, migrate, migrated, reasons
from tests.codemods.split_samples import HEAD, SOURCE
from tests.support import run_torch_tests

AFTER = (
    HEAD
    + '''class _SortTestBase:
    sizes = (2, 3)

    def _check(self, device):
        self.assertEqual(torch.ones(self.sizes, device=device).sum().item(), 6)


class SortTest(_SortTestBase, TestCase):
    """Orders."""

    def test_sum(self, device):
        self._check(device)

    @onlyAccelerator
    def test_copy(self, device):
        torch.ones(2).to(device)


class SortTestCpuOnly(_SortTestBase, TestCase):
    # numpy reads host memory
    @onlyCPU
    @dtypes(torch.float32)
    def test_numpy(self, device, dtype):
        self._check(device)
        self.assertEqual(torch.ones(2, device=device, dtype=dtype).numpy().sum(), 2)


instantiate_device_type_tests(SortTest, globals(), allow_mps=True)
instantiate_device_type_tests(SortTestCpuOnly, globals(), only_for="cpu")

if __name__ == "__main__":
    run_tests()
'''
)


def test_what_is_kept_to_the_cpu_gets_a_class_for_it() -> None:
    outcome = migrate(SOURCE, "split_devices", unsafe=True, split=True)
    assert outcome.after.decode() == AFTER
    check_invariants(outcome, "split_devices", unsafe=True, split=True)
    rows = outcome.manifest.by_device()
    assert rows["cpu"] == {"kept": 2, "renamed": 1, "new": 0, "moved": 0, "lost": 0}
    assert rows["cuda"] == {"kept": 2, "renamed": 0, "new": 0, "moved": 1, "lost": 0}


def test_only_on_request() -> None:
    assert not migrate(SOURCE, "split_devices", unsafe=True).changed
    (change,) = migrate(SOURCE, "split_devices", split=True).changes
    assert change.applicability == "safe"


def test_a_split_that_makes_fewer_of_a_test_is_unsafe() -> None:
    (held,) = migrate(GENERIC_SOURCE, "split_devices", split=True).held
    assert "once, and not for each device)" in held.description
    (held,) = migrate(NARROW, "split_devices", split=True).held
    assert held.applicability == "unsafe"


def test_what_can_be_widened_is_and_what_cannot_gets_a_class() -> None:
    source = SOURCE.replace("@onlyCPU\n    @dtypes(torch.float32)", "@onlyCUDA").replace(
        "    def test_numpy(self, device, dtype):\n        self._check(device)\n"
        "        self.assertEqual(torch.ones(2, device=device, dtype=dtype).numpy().sum(), 2)\n",
        "    def test_jit(self, device):\n        self._check(device)\n"
        "        torch.cuda.jiterator._create_jit_fn('x')\n\n"
        "    @onlyCUDA\n    def test_move(self, device):\n        torch.ones(2).to(device)\n",
    )
    after = migrated(source, "skip_gates", "split_devices", unsafe=True, split=True)
    assert 'instantiate_device_type_tests(SortTestCudaOnly, globals(), only_for="cuda")\n' in after
    first, _, second = after.partition("class SortTestCudaOnly(_SortTestBase, TestCase):")
    assert "@onlyAccelerator\n    def test_move" in first and "test_jit" in second


@pytest.mark.parametrize(
    ("arguments", "further"),
    [
        ("globals(), except_for='mps'", "globals()"),
        ("scope=globals()", "globals()"),
        ("\n    globals(),\n    allow_xpu=True,\n", "globals()"),
    ],
)
def test_spellings_of_the_instantiation(arguments: str, further: str) -> None:
    source = SOURCE.replace("globals(), allow_mps=True", arguments)
    after = migrated(source, "split_devices", unsafe=True, split=True)
    assert f'\ninstantiate_device_type_tests(SortTestCpuOnly, {further}, only_for="cpu")\n' in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("    sizes = (2, 3)\n", "    precision = 0.1\n    sizes = (2, 3)\n", "class-member"),
        ("    def _check(", "    @staticmethod\n    def _check(", "class-member"),
        ("    @dtypes(torch.float32)\n", "    @ops([])\n", "imported-elsewhere"),
        (
            "\n\nif __name__",
            "\n\ninstantiate_device_type_tests(SortTest, globals())\n\nif __name__",
            "already-instantiated",
        ),
        ("globals(), allow_mps=True", "globals(), only_for=DEVICES", "already-instantiated"),
        (
            "\n\ninstantiate",
            "\n\nclass _SortTestBase:\n    pass\n\n\nclass _SortTestShared:\n    pass\n\n\ninstantiate",
            "name-taken",
        ),
        ("self._check(device)\n", "self._check(device)\n        SortTest.sizes\n", "name-used-later"),
        ("class SortTest(TestCase):", "class SortTest(Unknown):", "unknown-base"),
    ],
)
def test_what_stands_against_it(old: str, new: str, reason: str) -> None:
    assert old in SOURCE
    outcome = migrate(SOURCE.replace(old, new, 1), "split_devices", unsafe=True, split=True)
    assert reasons(outcome) == {"SortTest": reason}
    assert not outcome.changed


def test_classes_that_nothing_is_to_be_taken_out_of() -> None:
    for source in (
        SOURCE.replace("    @onlyCPU\n", ""),
        SOURCE.replace("globals(), allow_mps=True", 'globals(), only_for="cpu"'),
        SOURCE.replace("instantiate_device_type_tests(SortTest, globals(), allow_mps=True)\n", ""),
    ):
        outcome = migrate(source, "split_devices", unsafe=True, split=True)
        assert not outcome.changed and not outcome.refusals


GENERIC_SOURCE = (
    HEAD.replace("run_tests, TestCase\n", "parametrize, run_tests, skipIfTorchDynamo, TestCase\n")
    + """class SortTest(TestCase):
    def setUp(self):
        TestCase.setUp(self)
        self.size = 3

    def test_sum(self, device):
        self.assertEqual(torch.ones(self.size, device=device).sum().item(), 3)

    # Says what is wrong.
    @skipIfTorchDynamo("")
    def test_message(self):
        with self.assertRaisesRegex(RuntimeError, "invalid"):
            torch.ones(self.size).view(7)

    @onlyAccelerator
    def test_copy(self, device):
        torch.ones(2).to(device)

    @parametrize("n", [1, 2])
    def test_len(self, n):
        self.assertEqual(len(torch.ones(n)), n)


instantiate_device_type_tests(SortTest, globals(), allow_mps=True)

if __name__ == "__main__":
    run_tests()
"""
)
WITH_PARAMETRIZED = """(
    instantiate_parametrized_tests,
    parametrize,
    run_tests,
    skipIfTorchDynamo,
    TestCase,
)
"""
GENERIC_AFTER = (
    HEAD.replace("run_tests, TestCase\n", WITH_PARAMETRIZED)
    + """class _SortTestBase:
    def setUp(self):
        TestCase.setUp(self)
        self.size = 3


class SortTest(_SortTestBase, TestCase):
    def test_sum(self, device):
        self.assertEqual(torch.ones(self.size, device=device).sum().item(), 3)

    @onlyAccelerator
    def test_copy(self, device):
        torch.ones(2).to(device)


class SortTestGeneric(_SortTestBase, TestCase):
    # Says what is wrong.
    @skipIfTorchDynamo("")
    def test_message(self):
        with self.assertRaisesRegex(RuntimeError, "invalid"):
            torch.ones(self.size).view(7)

    @parametrize("n", [1, 2])
    def test_len(self, n):
        self.assertEqual(len(torch.ones(n)), n)


instantiate_device_type_tests(SortTest, globals(), allow_mps=True)
instantiate_parametrized_tests(SortTestGeneric)

if __name__ == "__main__":
    run_tests()
"""
)


def test_what_is_the_same_on_every_device_gets_a_class_that_is_not_instantiated() -> None:
    outcome = migrate(GENERIC_SOURCE, "split_devices", unsafe=True, split=True)
    assert outcome.after.decode() == GENERIC_AFTER
    check_invariants(outcome, "split_devices", unsafe=True, split=True)
    rows = outcome.manifest.by_device()
    assert rows[""] == {"kept": 0, "renamed": 3, "new": 0, "moved": 0, "lost": 0}
    assert rows["cpu"] == {"kept": 2, "renamed": 0, "new": 0, "moved": 0, "lost": 0}
    assert rows["cuda"] == {"kept": 2, "renamed": 0, "new": 0, "moved": 3, "lost": 0}


def test_both_classes_are_tagged_in_the_same_run() -> None:
    outcome = migrate(GENERIC_SOURCE, unsafe=True, split=True)
    check_invariants(outcome, unsafe=True, split=True)
    assert outcome.clean_after and not outcome.refusals
    tag = "    hw_classification = HardwareClassification."
    after = outcome.after.decode()
    assert f"class SortTest(_SortTestBase, TestCase):\n{tag}ACCELERATOR\n" in after
    assert f"class SortTestGeneric(_SortTestBase, TestCase):\n{tag}GENERIC\n" in after


def test_nothing_is_called_for_a_generic_class_that_nothing_parametrizes() -> None:
    source = GENERIC_SOURCE.replace(
        '    @parametrize("n", [1, 2])\n    def test_len(self, n)', "    def test_len(self, n=1)"
    )
    after = migrated(
        source.replace("self, n=1", "self").replace("(n)), n)", "(1)), 1)"), "split_devices", unsafe=True, split=True
    )
    assert "\n\ninstantiate_device_type_tests(SortTest, globals(), allow_mps=True)\n\nif __name__" in after
    assert "class SortTestGeneric(_SortTestBase, TestCase):" in after and "instantiate_parametrized_tests" not in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.size = 3", "self.size = 3 if self.device_type == 'cpu' else 4"),  # the fixture asks for the device
        ("self.size = 3", "self.size = len(self.get_all_devices())"),
        ("self.size = 3", "self.size = describe(self)"),  # something else may
        ("ones(self.size).view", "ones(int(self.precision)).view"),  # a member of the loader's own bases
        ("ones(self.size).view", "ones(len(self._testMethodName)).view"),  # the name is another
        ("ones(self.size).view(7)", "ones(self.size).view(7)\n        self.assertExpected('a')"),  # a file of that name
        ("ones(self.size).view", "ones(self.size, device='cuda').view"),  # belongs to an accelerator
        ('@skipIfTorchDynamo("")', "@skipCPUIfNoLapack"),  # looks at the class's device
        ('@skipIfTorchDynamo("")', "@mine"),  # nobody knows
        ('@skipIfTorchDynamo("")\n', "@dtypes(torch.float32)\n"),
        ("def test_message(self)", "async def test_message(self)"),
        ("def test_sum(self, device):\n", "def test_sum(self, device):\n        self.test_message()\n"),
        ("test_sum(self, device):\n", "test_sum(self, device):\n        getattr(self, 'test_message')\n"),
    ],
)
def test_what_stays_with_the_devices(old: str, new: str) -> None:
    source = GENERIC_SOURCE.replace("onlyCUDA,\n", "onlyCUDA,\n    skipCPUIfNoLapack,\n    skipMeta,\n")
    assert old in source
    outcome = migrate(source.replace(old, new, 1), "split_devices", unsafe=True, split=True, confidence="likely")
    check_invariants(outcome, "split_devices", unsafe=True, split=True, confidence="likely")
    generic = outcome.after.decode().partition("class SortTestGeneric")[2]
    assert "test_message" not in generic, generic


def test_a_decorator_about_other_devices_goes() -> None:
    source = GENERIC_SOURCE.replace("onlyCUDA,\n", "onlyCUDA,\n    skipMeta,\n    skipXLA,\n")
    both = source.replace('    @skipIfTorchDynamo("")\n', "    @skipMeta\n    @skipIfTorchDynamo('')\n    @skipXLA\n")
    outcome = migrate(both, "split_devices", unsafe=True, split=True)
    check_invariants(outcome, "split_devices", unsafe=True, split=True)
    generic = outcome.after.decode().partition("class SortTestGeneric")[2]
    assert "    # Says what is wrong.\n    @skipIfTorchDynamo('')\n    def test_message(self):\n" in generic
    commented = source.replace('@skipIfTorchDynamo("")', "@skipMeta  # no data")
    outcome = migrate(commented, "split_devices", unsafe=True, split=True)
    assert not outcome.changed and reasons(outcome) == {"SortTest": "layout"}


def test_what_never_ran_on_a_host_without_accelerator_does_not_begin_to() -> None:
    for source in (
        GENERIC_SOURCE.replace("globals(), allow_mps=True", 'globals(), except_for="cpu"'),
        GENERIC_SOURCE.replace("    @skipIf", "    @onlyAccelerator\n    @skipIf").replace(
            "    @parametrize", "    @onlyAccelerator\n    @parametrize"
        ),
    ):
        assert not migrate(source, "split_devices", unsafe=True, split=True).changed


def test_a_generic_label_that_is_likely_has_to_be_accepted() -> None:
    source = GENERIC_SOURCE.replace("self.size = 3", "self.size = outside.helper(3)").replace(
        "import torch\n", "import torch\nfrom mine import outside\n", 1
    )
    assert not migrate(source, "split_devices", unsafe=True, split=True).changed
    assert migrate(source, "split_devices", unsafe=True, split=True, confidence="likely").changed


def test_the_refusal_says_why_a_test_cannot_be_taken_out() -> None:
    source = GENERIC_SOURCE.replace('@skipIfTorchDynamo("")', "@skipCPUIfNoLapack").replace(
        "onlyCUDA,\n", "onlyCUDA,\n    skipCPUIfNoLapack,\n    skipMeta,\n"
    )
    outcome = migrate(source, unsafe=True, split=True)
    (text,) = [r.text for r in outcome.refusals if r.codemod == "contract_device"]
    assert text.endswith("it cannot go to a GENERIC class: @skipCPUIfNoLapack needs the class to be instantiated")


NARROW = SOURCE.replace("    def test_sum", "    @onlyCPU\n    def test_sum").replace(
    "    @onlyAccelerator\n", "    @onlyCPU\n"
)


def test_a_class_that_is_all_for_one_device_is_instantiated_for_that() -> None:
    outcome = migrate(NARROW, "split_devices", unsafe=True, split=True)
    check_invariants(outcome, "split_devices", unsafe=True, split=True)
    assert outcome.after.decode() == NARROW.replace("allow_mps=True", 'only_for="cpu"')
    assert outcome.manifest.by_device()["cuda"] == {"kept": 0, "renamed": 0, "new": 0, "moved": 3, "lost": 0}
    assert not migrate(NARROW, "split_devices", unsafe=True).changed


def test_what_a_narrowed_class_helps_itself_with_stays_its_own() -> None:
    """What is wrong with a helper was wrong before."""
    source = NARROW.replace("@onlyCPU", "@onlyCUDA").replace("device=device).sum()", 'device="cuda").sum()')
    outcome = migrate(source, "split_devices", unsafe=True, split=True)
    check_invariants(outcome, "split_devices", unsafe=True, split=True)
    assert outcome.after.decode() == source.replace("allow_mps=True", 'only_for="cuda"')


def test_what_is_keyed_by_the_class_keeps_its_name() -> None:
    source = NARROW.replace("    @onlyCPU\n    def test_copy", "    @onlyCUDA\n    @ops([])\n    def test_copy")
    after = migrated(
        source.replace("test_copy(self, device)", "test_copy(self, device, dtype, op)"),
        "split_devices",
        unsafe=True,
        split=True,
    )
    calls = [line for line in after.splitlines() if line.startswith("instantiate_device_type_tests(")]
    assert [line.partition("(")[2] for line in calls] == [
        'SortTest, globals(), only_for="cuda")',
        'SortTestCpuOnly, globals(), only_for="cpu")',
    ]
    assert 'class SortTest(_SortTestBase, TestCase):\n    """Orders."""\n\n    @onlyCUDA\n    @ops([])' in after


def test_a_class_that_is_not_narrowed() -> None:
    for old, new, reason in (
        ("globals(), allow_mps=True", "globals(),  # all\n    allow_mps=True", "layout"),
        ("SortTest, globals(), allow_mps=True", "SortTest, **everything", "already-instantiated"),
        ("\n\nif __name__", "\n\nclass Further(SortTest):\n    pass\n\n\nif __name__", "subclassed"),
    ):
        outcome = migrate(NARROW.replace(old, new, 1), "split_devices", unsafe=True, split=True)
        assert not outcome.changed and reasons(outcome)["SortTest"] == reason


def test_torch_runs_the_same_tests_before_and_after(torch_python: Path, tmp_path: Path) -> None:
    counted = [_counted(torch_python, tmp_path, text) for text in (SOURCE, AFTER)]
    assert counted[0] == counted[1] and ("test_numpy_cpu_float32", "ok") in counted[0]


def test_torch_runs_what_is_the_same_everywhere_once(torch_python: Path, tmp_path: Path) -> None:
    before, after = [_counted(torch_python, tmp_path, text) for text in (GENERIC_SOURCE, GENERIC_AFTER)]
    plain = {"test_message_cpu": "test_message", "test_len_n_1_cpu": "test_len_n_1", "test_len_n_2_cpu": "test_len_n_2"}
    assert sorted((plain.get(name, name), result) for name, result in before) == after
    assert ("test_message", "ok") in after and ("test_len_n_2", "ok") in after


def _counted(python: Path, folder: Path, text: str) -> list[tuple[str, str]]:
    """(test, outcome) of each test that torch runs of the file on this host."""
    file = folder / f"test_{len(list(folder.iterdir()))}.py"
    file.write_text(text)
    run = run_torch_tests(python, file)
    assert run.returncode == 0, run.stderr
    lines = [line.split() for line in run.stderr.splitlines() if line.startswith("test_")]
    return sorted((words[0], words[-1]) for words in lines)
