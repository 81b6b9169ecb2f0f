"""What ``select`` says against what a real torch's loader makes and runs, on the CPU and on the reference device."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.project import Project

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[2]
PATH = "test_made_up.py"

SUITE = """\
import sys
import unittest
import torch
from torch.testing._internal.common_device_type import (
    dtypes, dtypesIfCPU, dtypesIfPRIVATEUSE1, instantiate_device_type_tests, onlyAccelerator, onlyCPU, onlyCUDA,
    onlyNativeDeviceTypes, onlyOn, onlyPRIVATEUSE1, skipCPUIf, skipCUDAIf, skipMeta, skipPRIVATEUSE1,
)
from torch.testing._internal.common_utils import (
    TestCase, instantiate_parametrized_tests, parametrize, run_tests, subtest, HardwareClassification, TEST_CUDA,
)


class Everywhere(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_plain(self, device):
        pass

    @onlyCUDA
    def test_cuda(self, device):
        pass

    @onlyCPU
    def test_cpu(self, device):
        pass

    @onlyAccelerator
    def test_accelerator(self, device):
        pass

    @onlyPRIVATEUSE1
    def test_private(self, device):
        pass

    @skipPRIVATEUSE1
    def test_not_private(self, device):
        pass

    @skipCPUIf(True, "not here")
    def test_not_cpu(self, device):
        pass

    @skipCUDAIf(True, "not there")
    def test_not_cuda(self, device):
        pass

    @skipMeta
    def test_not_meta(self, device):
        pass

    @onlyOn(["cpu", "cuda"])
    def test_on(self, device):
        pass

    @onlyNativeDeviceTypes
    def test_native(self, device):
        pass

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_host(self, device):
        pass

    @unittest.skipIf(TEST_CUDA, "CUDA")
    def test_no_host(self, device):
        pass

    def test_inside(self, device):
        if not torch.cuda.is_available():
            self.skipTest("no CUDA")

    @dtypes(torch.float, torch.int64)
    def test_dtype(self, device, dtype):
        pass

    @parametrize("a,b", [(1, 2.5), ("x", True)])
    @parametrize("n", [None, 3])
    def test_many(self, device, a, b, n):
        pass


class Listed(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_a(self, device):
        pass


class Kept(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_a(self, device):
        pass


class Own(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_a(self, device):
        pass


# torch instantiates in the order of a set and learns PrivateUse1's name with the first test, so that which dtypes the
# first class of a process gets depends on the hash seed; from the second class on it does not.
class Base(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_base(self, device):
        pass

    @dtypes(torch.float32)
    @dtypesIfCPU(torch.half, torch.double)
    @dtypesIfPRIVATEUSE1(torch.int8)
    def test_dtype_by_device(self, device, dtype):
        pass


class Sub(Base):
    def test_sub(self, device):
        pass


class Plain(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_a(self):
        pass

    @parametrize("n", [1, 2])
    def test_n(self, n):
        pass


instantiate_device_type_tests(Everywhere, globals())
instantiate_device_type_tests(Listed, globals(), only_for=("cpu", "cuda"))
instantiate_device_type_tests(Kept, globals(), except_for="refdev")
instantiate_device_type_tests(Own, globals(), only_for=["refdev"])
instantiate_device_type_tests(Base, globals())
instantiate_device_type_tests(Sub, globals())
instantiate_parametrized_tests(Plain)

if __name__ == "__main__":
    run_tests()
"""

RUN = """
import json, sys, unittest
sys.path.insert(0, "")
if sys.argv[1] != "cpu":
    from hwlint.reference_device import register
    register(sys.argv[1])
import test_made_up as module
result = unittest.TestResult()
suite = unittest.defaultTestLoader.loadTestsFromModule(module)
names = []
def walk(part):
    for one in part:
        if isinstance(one, unittest.TestSuite):
            walk(one)
        else:
            names.append(f"{type(one).__name__}::{one._testMethodName}")
            one.run(result)
walk(suite)
skipped = {f"{type(t).__name__}::{t._testMethodName}" for t, _ in result.skipped}
print(json.dumps({"ran": [n for n in names if n not in skipped], "bad": str(result.errors + result.failures)}))
"""


@pytest.mark.parametrize("device", ["cpu", "refdev"])
def test_selected_is_what_runs(project: Project, torch_python: Path, device: str) -> None:
    project.write(PATH, SUITE)
    done = subprocess.run(
        [str(torch_python), "-c", RUN, device],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(project.root)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    real = json.loads(done.stdout.splitlines()[-1])
    assert real["bad"] == "[]"
    assert project.hwlint("select", "--device", device, "--format", "json", "--no-cache") == 0
    found = json.loads(project.out)
    assert found["summary"]["patterns"] == 0 and found["unknown"] == []
    ends = ("CPU",) if device == "cpu" else ("PRIVATEUSE1", "REFDEV")
    ran = {name for name in real["ran"] if name.split("::")[0].endswith(ends) or name.startswith("Plain::")}
    assert {one["id"].removeprefix(f"{PATH}::") for one in found["selected"]} == ran
