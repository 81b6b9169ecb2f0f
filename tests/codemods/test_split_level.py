"""--split: whether a split is a safe change, which needs no --unsafe beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.pipeline import Outcome
from codemods.plan import Options
from codemods.run import migrate as migrate_tree
from hwlint.config import Settings
from hwlint.discover import Discovery
from tests.codemods.harness import check_invariants, migrate

SOURCE = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class CacheTest(TestCase):
    def test_key(self):
        self.assertEqual(str(1), "1")

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_tensor(self):
        self.assertEqual(torch.ones(3).cuda().sum(), 3)
"""
GOLDEN = """
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_text(self):
        self.assertExpectedInline(str(torch.ones(1).cuda()), \"\"\"tensor([1.], device='cuda:0')\"\"\")
"""


def held(outcome: Outcome) -> str:
    """Why the split was held back, '' where it was made."""
    found = [c.description.partition(" (")[2] for c in outcome.held if c.codemod == "split_class"]
    assert not (found and any(c.codemod == "split_class" for c in outcome.changes))
    return found[0] if found else ""


def test_what_is_asked_for_is_done_where_each_test_runs_where_it_ran() -> None:
    outcome = migrate(SOURCE, split=True)
    check_invariants(outcome, split=True)
    text = outcome.after.decode()
    assert "class CacheTest(TestCase):\n    hw_classification = HardwareClassification.GENERIC\n" in text
    assert "class CacheTestDevice(TestCase):\n    hw_classification = HardwareClassification.ACCELERATOR\n" in text
    assert outcome.clean_after and {c.applicability for c in outcome.changes} == {"safe"}


def test_a_test_that_may_belong_elsewhere_has_to_be_accepted() -> None:
    source = SOURCE.replace('    @unittest.skipIf(not TEST_CUDA, "no CUDA")\n', "")
    source = source.replace("torch.ones(3).cuda()", "torch.ones(3, device='cuda' if TEST_CUDA else 'cpu')")
    assert "where test_tensor belongs is likely, not certain" in held(migrate(source, split=True))
    assert not held(migrate(source, split=True, confidence="likely"))


def test_a_split_of_which_nothing_would_come_is_not_made() -> None:
    """What only leaves its golden texts behind, to be instantiated, waits until it may be."""
    memory = SOURCE.replace("self.assertEqual(torch", "torch.cuda.synchronize()\n        self.assertEqual(torch")
    for source, made in ((SOURCE, True), (memory.replace("synchronize", "empty_cache"), False)):
        alone = source.replace('    def test_key(self):\n        self.assertEqual(str(1), "1")\n\n', "") + GOLDEN
        outcome = migrate(alone, split=True)
        assert bool(held(outcome)) is not made, outcome.changes
        assert made or "to instantiate CacheTestDevice is unsafe" in held(outcome)
        assert "class CacheTestDevice(" in migrate(alone, split=True, unsafe=True).after.decode()


@pytest.mark.parametrize(("known", "safe"), [("test_tensor", False), ("test_key", True), ("test_other", True)])
def test_a_test_that_the_tree_knows_by_its_name_does_not_move_unasked(tmp_path: Path, known: str, safe: bool) -> None:
    """The file whose name is the key would say nothing any more."""
    for path, text in ((f"test/dynamo_skips/CacheTest.{known}", ""), ("test/test_cache.py", SOURCE)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    discovery = Discovery(tmp_path, ("test/test_cache.py",))
    (outcome,) = migrate_tree(Settings(root=tmp_path), discovery, Options(split=True), jobs=1).outcomes
    assert ("knows CacheTest.test_tensor by its name" in held(outcome)) is not safe
    assert ("class CacheTestDevice(" in outcome.after.decode()) is safe


def test_a_class_that_another_file_imports_is_not_split_unasked(tmp_path: Path) -> None:
    files = {"test/test_cache.py": SOURCE, "test/test_all.py": "from test_cache import CacheTest  # noqa: F401\n"}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    found = migrate_tree(Settings(root=tmp_path), Discovery(tmp_path, tuple(files)), Options(split=True), jobs=1)
    outcome = next(o for o in found.outcomes if o.path == "test/test_cache.py")
    assert "test/test_all.py imports it" in held(outcome) and not outcome.changed
