"""What device_parameter writes, run by torch itself on the CPU: the loader really does what its codemods say of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.codemods.device_samples import MODEL
from tests.codemods.harness import checked

NAME = "device_parameter"
REAL = (
    """\
import copy
import unittest

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.common_utils import run_tests, TEST_CUDA, TestCase


"""
    + MODEL
    + """\


class Base(TestCase):
    def _total(self, x):
        return (x + torch.ones(2, device="cuda")).sum()


class SumTest(Base):
    seed = 3

    @staticmethod
    def _shape():
        return (2,)

    def _draw(self):
        torch.manual_seed(SumTest.seed)
        SumTest.seed += 1
        return torch.rand(SumTest._shape())

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_model(self):
        model = Model(size=2)
        other = copy.deepcopy(model)
        self.assertEqual(other(other.example(2)).sum(), 4)
        self.assertEqual(self._total(model.example(2)), 4)

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_draw(self):
        before = SumTest.seed
        self.assertEqual(self._draw().cuda().shape, self._shape())
        self.assertEqual(SumTest.seed, before + 1)

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_meta(self):
        import torch

        with torch.device("meta"):
            model = torch.nn.Linear(2, 2)
        model.to_empty(device="cuda")
        x = torch.ones(2, device="cuda")
        with FakeTensorMode():
            torch.ones(2)
        self.assertEqual(model(x).device, x.device)

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_inner(self):
        self._apply(self._run)

    def _apply(self, run):
        run()

    def _run(self):
        class Inner(torch.nn.Module):
            def forward(self, x):
                return x + torch.ones(2, device="cuda")

        self.assertEqual(Inner()(torch.ones(2).cuda()).sum(), 4)


if __name__ == "__main__":
    run_tests()
"""
)


@pytest.mark.torch
def test_classes_for_devices_do_what_the_class_did(torch_python: Path, tmp_path: Path) -> None:
    """Static methods, what a class counts, a helper class, a base, a class inside a method, and torch imported anew.

    Without ``@onlyAccelerator`` the CPU variant runs what CUDA's does.
    """
    text = checked(REAL, NAME, unsafe=True)
    assert "cuda" not in text.partition("class Model")[2] and text.count("    @onlyAccelerator\n") == 4
    (tmp_path / "test_sample.py").write_text(text.replace("    @onlyAccelerator\n", ""), encoding="utf-8")
    done = subprocess.run(
        [torch_python, "-m", "unittest", "-v", "test_sample"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "_cpu " in done.stderr and "Ran 4 tests" in done.stderr
