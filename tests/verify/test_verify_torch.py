"""The whole command with a real torch: migrated tests on the CPU and on the reference device."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import hwlint
from hwlint.verify.process import Limits
from hwlint.verify.runs import Interpreter, runner_environment
from hwlint.verify.verify import Request, verify
from tests.verify.conftest import Called, call

pytestmark = pytest.mark.torch
ROOT = Path(hwlint.__file__).parents[1]

BEFORE = """
import unittest
import torch
from torch.testing._internal.common_utils import TestCase, run_tests


class TestSums(TestCase):
    @unittest.skipIf(not torch.cuda.is_available(), "needs CUDA")
    def test_converted(self):
        self.assertEqual(torch.ones(3, device="cuda").sum().item(), 3)

    def test_half_converted(self):
        self.assertEqual((torch.ones(2) + torch.ones(2)).sum().item(), 4)

    @unittest.skipIf(not torch.cuda.is_available(), "needs CUDA")
    def test_literal(self):
        self.assertEqual(torch.ones(2, device="cuda").sum().item(), 2)

    def test_dropped(self):
        pass


class TestPlain(TestCase):
    def test_plain(self):
        pass


if __name__ == "__main__":
    run_tests()
"""
AFTER = """
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import HardwareClassification, TestCase, parametrize, run_tests


class TestSums(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_converted(self, device):
        self.assertEqual(torch.ones(3, device=device).sum().item(), 3)

    def test_half_converted(self, device):
        self.assertEqual((torch.ones(2, device=device) + torch.ones(2)).sum().item(), 4)

    def test_literal(self, device):
        target = device if torch.device(device).type == "cpu" else "cuda"
        self.assertEqual(torch.ones(2, device=target).sum().item(), 2)

    @parametrize("size", [1, 2])
    def test_parametrised(self, device, size):
        self.assertEqual(torch.ones(size, device=device).device, torch.device(device))


class TestPlain(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_plain(self):
        pass


instantiate_device_type_tests(TestSums, globals())

if __name__ == "__main__":
    run_tests()
"""


@pytest.fixture(scope="module")
def migrated(torch_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Called:
    folder = tmp_path_factory.mktemp("migrated")
    (folder / "before").mkdir()
    (folder / "before" / "test_sums.py").write_text(BEFORE)
    after = folder / "test_sums.py"
    after.write_text(AFTER)
    return call(after, "--before", folder / "before", "--python", torch_python, "--timeout", "120", "--jobs", "2")


def test_on_the_cpu_the_half_converted_test_passes(migrated: Called) -> None:
    assert migrated.outcomes("cpu") == {
        "TestPlain.test_plain": "passed",
        "TestSumsCPU.test_converted_cpu": "passed",
        "TestSumsCPU.test_half_converted_cpu": "passed",
        "TestSumsCPU.test_literal_cpu": "passed",
        "TestSumsCPU.test_parametrised_size_1_cpu": "passed",
        "TestSumsCPU.test_parametrised_size_2_cpu": "passed",
    }


def test_on_the_reference_device_it_fails_and_so_does_a_literal_cuda(migrated: Called) -> None:
    assert migrated.status == 1
    assert migrated.kinds("reference") == {
        "TestPlain.test_plain": "kept",
        "TestSumsPRIVATEUSE1.test_converted_refdev": "better",
        "TestSumsPRIVATEUSE1.test_half_converted_refdev": "worse",
        "TestSumsPRIVATEUSE1.test_literal_refdev": "worse",
        "TestSums.test_dropped": "lost",
        "TestSumsPRIVATEUSE1.test_parametrised_size_1_refdev": "new",
        "TestSumsPRIVATEUSE1.test_parametrised_size_2_refdev": "new",
    }
    details = {
        change["after"]: change["detail"]
        for comparison in migrated.report["comparisons"]
        if comparison["device"] == "reference"
        for change in comparison["changes"]
    }
    assert "same device" in details["TestSumsPRIVATEUSE1.test_half_converted_refdev"].splitlines()[0]
    assert details["TestSumsPRIVATEUSE1.test_literal_refdev"]


def test_what_only_cuda_could_run_is_unlocked(migrated: Called) -> None:
    unlocked = {comparison["device"]: comparison["unlocked"] for comparison in migrated.report["comparisons"]}
    assert unlocked == {"cpu": [], "reference": ["TestSumsPRIVATEUSE1.test_converted_refdev"]}


def test_the_report_says_what_a_reference_is(migrated: Called) -> None:
    assert any("no claim" in note for note in migrated.report["notes"])
    assert migrated.report["torch"]


def test_labels_select_what_the_file_says(migrated: Called) -> None:
    checks = {(check["device"], check["label"]): check for check in migrated.report["labels"]}
    assert {key: check["selected"] for key, check in checks.items()} == {
        ("cpu", "ACCELERATOR"): 5,
        ("cpu", "GENERIC"): 1,
        ("reference", "ACCELERATOR"): 5,
        ("reference", "GENERIC"): 1,
    }
    assert not any(check["not_selected"] or check["not_expected"] for check in checks.values())


def test_recorded_selection_is_that_of_the_command_line(migrated: Called, torch_python: Path, tmp_path: Path) -> None:
    """``--hw-classification`` of the test file itself selects what the journal says the label selects."""
    file, journal = tmp_path / "test_sums.py", tmp_path / "journal.jsonl"
    file.write_text(AFTER)
    command = [
        str(torch_python), "-m", "hwlint_runner", str(file), "--journal", str(journal), "--collect-only",
        "--labels", "--hw-classification", "ACCELERATOR",
    ]  # fmt: skip
    subprocess.run(command, env=runner_environment(), check=True, timeout=60)
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    loaded = next(event["tests"] for event in events if event["event"] == "collected")
    selected = next(event["tests"] for event in events if event.get("label") == "ACCELERATOR")
    assert sorted(test["id"] for test in loaded) == sorted(selected)
    assert len(loaded) == 5


def test_a_static_model_that_disagrees_is_reported(torch_python: Path, tmp_path: Path) -> None:
    file = tmp_path / "test_sums.py"
    file.write_text(AFTER)
    request = Request(
        files=(str(file),),
        interpreter=Interpreter(str(torch_python), Limits(120), runner="pytest"),
        devices=("cpu",),
        labels={str(file): {"TestSums": "ACCELERATOR", "TestPlain": "CPU"}},
    )
    report = verify(request)
    assert report.is_bad and not report.failures()
    checks = {check.label: check for check in report.label_checks}
    assert checks["ACCELERATOR"].agrees
    assert [len(checks["CPU"].not_selected), len(checks["GENERIC"].not_expected)] == [1, 1]


def test_a_back_end_of_ones_own(torch_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An out-of-tree back end is any module that registers one; here the reference device under another name."""
    (tmp_path / "toy_backend.py").write_text("from hwlint.reference_device import register\nregister('toy')\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    file = tmp_path / "test_sums.py"
    file.write_text(AFTER)
    called = call(file, "--python", torch_python, "--backend-module", "toy_backend", "--device", "toy")
    outcomes = called.outcomes("toy")
    assert outcomes["TestSumsPRIVATEUSE1.test_converted_toy"] == "passed"
    assert outcomes["TestSumsPRIVATEUSE1.test_half_converted_toy"] == "error"
    assert called.report["runs"][0]["device_type"] == "toy"
    refused = call(file, "--python", torch_python, "--backend-module", "no_such_module", "--device", "toy")
    assert (refused.status, "no such device" in refused.errors) == (2, True)
