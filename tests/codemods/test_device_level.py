"""device_parameter: whether instantiating a class is a safe change."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.pipeline import Outcome
from codemods.run import migrate as migrate_tree
from hwlint.config import Settings
from hwlint.discover import Discovery
from tests.codemods.harness import check_invariants, migrate, reasons

NAME = "device_parameter"
SOURCE = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class SumTest(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_sum(self):
        self.assertEqual(torch.ones(3).cuda().sum(), 3)
"""
DONE = "take `device` in its tests, and instantiate it"


def held(outcome: Outcome) -> str:
    """The doubt for which the change of the class was held back, '' where it was made."""
    if outcome.changed:
        return ""
    (change,) = outcome.held
    assert change.description.startswith(f"{DONE} (")
    return change.description.removeprefix(f"{DONE} (").removesuffix(")")


def test_a_class_whose_tests_run_where_they_ran_is_instantiated_without_asking() -> None:
    outcome = migrate(SOURCE, NAME)
    check_invariants(outcome, NAME)
    assert [(c.description, c.applicability) for c in outcome.changes] == [(DONE, "safe")]
    fates = {(e.fate, e.device, e.after is not None and e.after.skipped) for e in outcome.manifest.entries}
    assert fates == {
        ("renamed", "cpu", True),
        ("new", "cuda", False),
        ("new", "hpu", False),
        ("new", "privateuse1", False),
    }


def test_a_likely_label_asks() -> None:
    """What a loop over devices makes likely (see docs/classify.md)."""
    source = SOURCE.replace('    @unittest.skipIf(not TEST_CUDA, "no CUDA")\n', "").replace(
        "        self.assertEqual(torch.ones(3).cuda().sum(), 3)",
        '        for device in ["cpu", "cuda"] if TEST_CUDA else ["cpu"]:\n'
        "            self.assertEqual(torch.ones(3, device=device).sum(), 3)",
    )
    assert held(migrate(source, NAME)) == "ACCELERATOR is likely, not certain"
    assert not held(migrate(source, NAME, confidence="likely"))


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("torch.cuda.empty_cache()", "torch.cuda.empty_cache"),
        ("torch.cuda.Event()", "torch.cuda.Event"),
        ("torch.accelerator.current_stream()", "torch.accelerator.current_stream"),
    ],
)
def test_what_could_notice_the_base_for_cuda_asks(statement: str, name: str) -> None:
    source = SOURCE.replace("        self.assert", f"        {statement}\n        self.assert")
    said = held(migrate(source, NAME))
    assert said == f"CUDATestBase checks for leaks and uses a stream of its own, and {name} may notice"
    assert migrate(source, NAME, unsafe=True).changed


@pytest.mark.parametrize("line", ["import torch.multiprocessing as mp", "from functools import partial as num_workers"])
def test_a_file_whose_tests_may_fork_asks(line: str) -> None:
    source = SOURCE.replace("import torch\n", f"import torch\n{line}\n", 1)
    assert held(migrate(source, NAME)) == "the loader then sets the accelerator up before the tests fork"


def test_a_set_up_of_the_class_asks() -> None:
    source = SOURCE.replace(
        "    @unittest", "    @classmethod\n    def setUpClass(cls):\n        cls.n = 3\n\n    @unittest", 1
    )
    assert held(migrate(source, NAME)) == "the loader calls its setUpClass when the file is imported"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("test/dynamo_skips/SumTest.test_sum", ""),
        ("test/slow_tests.json", '{"test_sum (__main__.SumTest)": 1}'),
    ],
)
def test_a_test_that_the_tree_knows_by_its_name_asks(tmp_path: Path, path: str, text: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / "test/test_sum.py").write_text(SOURCE)
    discovery = Discovery(tmp_path, ("test/test_sum.py",))
    assert migrate_tree(Settings(), discovery).outcomes[0].changed
    (tmp_path / path).write_text(text)
    (outcome,) = migrate_tree(Settings(), discovery).outcomes
    assert held(outcome) == f"{path} knows SumTest.test_sum by its name"


def test_a_parametrized_test_that_the_tree_knows_asks(tmp_path: Path) -> None:
    source = SOURCE.replace("    def test_sum(self)", "    @parametrize('n', sizes())\n    def test_sum(self, n)")
    source = source.replace("TestCase\n", "TestCase, instantiate_parametrized_tests, parametrize\n", 1)
    source += "\n\ninstantiate_parametrized_tests(SumTest)\n"
    source = source.replace("\n\nclass", "\n\ndef sizes():\n    return [1]\n\n\nclass")
    (tmp_path / "test/dynamo_skips").mkdir(parents=True)
    (tmp_path / "test/test_sum.py").write_text(source)
    discovery = Discovery(tmp_path, ("test/test_sum.py",))
    (tmp_path / "test/dynamo_skips/SumTest.test_other_n_1").write_text("")
    assert migrate_tree(Settings(), discovery).outcomes[0].changed
    (tmp_path / "test/dynamo_skips/SumTest.test_sum_n_1").write_text("")
    (outcome,) = migrate_tree(Settings(), discovery).outcomes
    assert not outcome.changed and "knows SumTest.test_sum_* by its name" in outcome.held[0].description


MAIN = """
if __name__ == "__main__":
    assert not torch.cuda._initialized, "no context here"
    run_tests()
"""


def test_a_file_that_asserts_that_cuda_is_not_set_up_is_left() -> None:
    """The loader sets it up to learn the name of the device, when the file is imported."""
    assert reasons(migrate(f"{SOURCE}{MAIN}", NAME, unsafe=True)) == {"SumTest": "import-time-gate"}
    assert migrate(f"{SOURCE}{MAIN.replace('torch.cuda._initialized', 'DEBUG')}", NAME).changed
