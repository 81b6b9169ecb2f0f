"""What keeps a test to native devices is said with skips of the others, where the class then meets its contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwlint.cli import run
from tests.codemods.harness import check_invariants, migrate, migrated
from tests.support import run_torch_tests

SOURCE = """\
import torch
from torch.testing._internal.common_device_type import (
    dtypes,
    instantiate_device_type_tests,
    onlyNativeDeviceTypes,
    onlyNativeDeviceTypesAnd,
)
from torch.testing._internal.common_utils import HardwareClassification, run_tests, TestCase


class RollTest(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    # Rolls.
    @onlyNativeDeviceTypes  # another message on XLA
    @dtypes(torch.float32, torch.int64)
    def test_roll(self, device, dtype):
        torch.ones(3, device=device, dtype=dtype).roll(1)

    @onlyNativeDeviceTypesAnd(["hpu"])
    def test_flip(self, device):
        torch.ones(3, device=device).flip(0)

    def test_sum(self, device):
        torch.ones(3, device=device).sum()


instantiate_device_type_tests(RollTest, globals())

if __name__ == "__main__":
    run_tests()
"""
AFTER = (
    SOURCE.replace("    onlyNativeDeviceTypes,\n    onlyNativeDeviceTypesAnd,\n", "    skipHPU,\n    skipXLA,\n")
    .replace("@onlyNativeDeviceTypes  #", "@skipHPU\n    @skipXLA  #")
    .replace('@onlyNativeDeviceTypesAnd(["hpu"])', "@skipXLA")
)
LAZY = ("globals()", "globals(), include_lazy=True")


def test_each_device_that_is_left_out_is_skipped_by_name() -> None:
    outcome = migrate(SOURCE, unsafe=True)
    check_invariants(outcome, unsafe=True)
    assert outcome.after.decode() == AFTER
    assert outcome.clean_after and not outcome.manifest.changed
    (first, _) = outcome.changes
    assert first.description == "say what is no native device in test_roll, test_flip with skips of its own"
    held = migrate(SOURCE)
    assert not held.changed and [c.codemod for c in held.held] == ["contract_device"]


def test_what_the_class_is_made_for_counts() -> None:
    assert "@skipHPU\n    @skipLazy\n    @skipXLA  # another" in migrated(SOURCE.replace(*LAZY), unsafe=True)
    after = migrated(SOURCE.replace("globals()", 'globals(), except_for="hpu"'), unsafe=True)
    assert "    @skipXLA  # another" in after and "skipHPU" not in after
    with_own = SOURCE.replace("    @dtypes", "    @skipXLA\n    @dtypes").replace(
        "dtypes,\n", "dtypes,\n    skipXLA,\n", 1
    )
    assert "    @skipHPU  # another message on XLA\n    @skipXLA\n    @dtypes" in migrated(with_own, unsafe=True)


def test_a_plain_string_is_searched_for_the_device_type() -> None:
    for named, skips in (("hpu", "@skipXLA"), ("mps", "@skipHPU\n    @skipXLA")):
        after = migrated(SOURCE.replace('(["hpu"])', f'("{named}")'), unsafe=True)
        assert f"roll(1)\n\n    {skips}\n    def test_flip" in after


@pytest.mark.parametrize(
    ("listed", "skips"),
    [
        ("('cpu', 'cuda', 'xpu', 'meta', torch._C._get_privateuse1_backend_name())", ["skipHPU", "skipMPS", "skipXLA"]),
        ("('cpu', 'cuda', 'xpu', 'meta', 'mps', torch._C._get_privateuse1_backend_name())", ["skipHPU", "skipXLA"]),
        ("('cpu', *MORE)", []),  # not to be read: it stays
        ("", []),
    ],
)
def test_the_list_of_the_checkout_decides(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    listed: str,
    skips: list[str],
) -> None:
    """MPS is native in newer torches only: NATIVE_DEVICES in common_utils.py."""
    file = tmp_path / "test" / "test_roll.py"
    file.parent.mkdir()
    file.write_text(SOURCE.replace("globals()", "globals(), allow_mps=True"))
    utilities = tmp_path / "torch" / "testing" / "_internal" / "common_utils.py"
    utilities.parent.mkdir(parents=True)
    utilities.write_text(f"import torch\n\nNATIVE_DEVICES = {listed}\n" if listed else "import torch\n")
    monkeypatch.chdir(tmp_path)
    status = run(["migrate", "test", "--unsafe", "--write", "--no-cache"])
    assert status == 0
    after = file.read_text()
    if skips:
        assert "".join(f"    @{skip}\n" for skip in skips[:-1]) + f"    @{skips[-1]}  # another" in after
    else:
        assert "@onlyNativeDeviceTypes  #" in after and "depends on the torch" in capsys.readouterr().out


def test_a_decorator_goes_where_its_skips_are_there() -> None:
    source = SOURCE.replace(
        '    @onlyNativeDeviceTypesAnd(["hpu"])\n', '    @skipXLA\n    @onlyNativeDeviceTypesAnd(["hpu"])\n'
    )
    after = migrated(source.replace("dtypes,\n", "dtypes,\n    skipXLA,\n", 1), unsafe=True)
    assert "roll(1)\n\n    @skipXLA\n    def test_flip" in after


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("globals()", "globals(), allow_mps=True", "depends on the torch"),  # native in newer ones only
        ("globals()", "globals(), except_for=DEVICES", "cannot be read"),
        ('(["hpu"])', "(DEVICES)", "cannot be read"),
        ('(["hpu"])', "(kinds())", "cannot be read"),
        ("\n\nif __name__", "\n\nclass Further(RollTest):\n    pass\n\n\nif __name__", "cannot be read"),
        ("\n\nclass RollTest", "\n\ndef skipHPU(test):\n    return test\n\n\nclass RollTest", "means something else"),
    ],
)
def test_what_stays(old: str, new: str, words: str) -> None:
    assert old in SOURCE
    outcome = migrate(SOURCE.replace(old, new, 1), "contract_device", unsafe=True)
    assert not outcome.changed
    assert any(words in r.text for r in outcome.refusals), outcome.refusals


def test_nothing_is_done_where_the_class_fails_its_contract_all_the_same() -> None:
    for source in (
        SOURCE.replace("test_sum(self, device)", "test_sum(self)").replace(", device=device).sum", ").sum"),
        SOURCE.replace("globals()", "globals(), only_for=('cpu', KIND)"),
        SOURCE.replace("    def test_sum", "    @onlyCUDA\n    def test_sum").replace(
            "    dtypes,", "    dtypes,\n    onlyCUDA,"
        ),
    ):
        outcome = migrate(source, "contract_device", unsafe=True)
        assert not outcome.changed and outcome.refusals


def test_torch_runs_the_same_tests(torch_python: Path, tmp_path: Path) -> None:
    counted = []
    for name, text in (("before", SOURCE), ("after", AFTER)):
        file = tmp_path / f"test_{name}.py"
        file.write_text(text)
        run = run_torch_tests(torch_python, file)
        assert run.returncode == 0, run.stderr
        lines = [line.split() for line in run.stderr.splitlines() if line.startswith("test_")]
        counted.append(sorted((words[0], words[-1]) for words in lines))
    assert counted[0] == counted[1] and ("test_roll_cpu_int64", "ok") in counted[0]
