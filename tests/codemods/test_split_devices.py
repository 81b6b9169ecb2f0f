"""split_devices: what is kept to one device goes into a class for it, byte for byte, and what is refused and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codemods.harness import check_invariants, migrate, migrated, reasons
from tests.support import run_torch_tests

HEAD = """\
import torch
from torch.testing._internal.common_device_type import (
    dtypes,
    instantiate_device_type_tests,
    onlyAccelerator,
    onlyCPU,
    onlyCUDA,
    ops,
)
from torch.testing._internal.common_utils import run_tests, TestCase


"""
SOURCE = (
    HEAD
    + '''class SortTest(TestCase):
    """Orders."""

    sizes = (2, 3)

    def _check(self, device):
        self.assertEqual(torch.ones(self.sizes, device=device).sum().item(), 6)

    def test_sum(self, device):
        self._check(device)

    # numpy reads host memory
    @onlyCPU
    @dtypes(torch.float32)
    def test_numpy(self, device, dtype):
        self._check(device)
        self.assertEqual(torch.ones(2, device=device, dtype=dtype).numpy().sum(), 2)

    @onlyAccelerator
    def test_copy(self, device):
        torch.ones(2).to(device)


instantiate_device_type_tests(SortTest, globals(), allow_mps=True)

if __name__ == "__main__":
    run_tests()
'''
)
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
    held = migrate(SOURCE, "split_devices", split=True)
    assert not held.changed and [c.applicability for c in held.held] == ["unsafe"]


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
        ("\n\ninstantiate", "\n\nclass _SortTestBase:\n    pass\n\n\ninstantiate", "name-taken"),
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


def test_torch_runs_the_same_tests_before_and_after(torch_python: Path, tmp_path: Path) -> None:
    counted = []
    for name, text in (("before", SOURCE), ("after", AFTER)):
        file = tmp_path / f"test_{name}.py"
        file.write_text(text)
        run = run_torch_tests(torch_python, file)
        assert run.returncode == 0, run.stderr
        lines = [line.split() for line in run.stderr.splitlines() if line.startswith("test_")]
        counted.append(sorted((words[0], words[-1]) for words in lines))
    assert counted[0] == counted[1] and ("test_numpy_cpu_float32", "ok") in counted[0]
