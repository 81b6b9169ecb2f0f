"""split_devices, and what goes by the name of the class: entries of OpInfos, and functions that add tests to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.plan import Options
from codemods.run import migrate as migrate_tree
from hwlint.config import Settings
from hwlint.discover import Discovery
from tests.codemods.harness import migrate, migrated, reasons
from tests.codemods.split_samples import SOURCE

ENTRIES = "torch/testing/_internal/common_methods_invocations.py"
KEYED = SOURCE.replace("    @dtypes(torch.float32)\n", "    @ops([])\n")


@pytest.mark.parametrize(
    ("entries", "splits"),
    [
        ("", True),
        ("DecorateInfo(skip, 'SortTest', 'test_sum')", True),
        ("DecorateInfo(skip, 'SortTests', 'test_numpy')", True),
        ("DecorateInfo(skip, 'SortTest', 'test_numpy')", False),
        ("DecorateInfo(skip, 'SortTest', test_name='test_numpy')", False),
        ('DecorateInfo(skip, "SortTest",\n    "test_numpy")', False),
        ("DecorateInfo(skip, 'SortTest', device_type='cpu')", False),
        ("DecorateInfo(skip, 'SortTest', f'test_{x}')", False),
        ("DecorateInfo(skip, cls_name='SortTest', test_name='test_numpy')", False),
    ],
)
def test_a_test_that_no_entry_names_may_leave_the_class(tmp_path: Path, entries: str, splits: bool) -> None:
    """Where the tree holds the entries, they tell."""
    for path, text in ((ENTRIES, entries), ("test/test_sort.py", KEYED)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    options = Options(only=("split_devices",), unsafe=True, split=True)
    (outcome,) = migrate_tree(Settings(), Discovery(tmp_path, ("test/test_sort.py",)), options).outcomes
    assert bool(outcome.changed) == splits
    (tmp_path / ENTRIES).unlink()
    (outcome,) = migrate_tree(Settings(), Discovery(tmp_path, ("test/test_sort.py",)), options).outcomes
    assert [r.reason for r in outcome.refusals] == ["imported-elsewhere"]


@pytest.mark.parametrize(
    ("decorator", "splits"),
    [
        ('@skipOps("SortTest", "test_numpy", [xfail("sum")])', True),
        ("@skipOps(\n        'SortTest',\n        'test_numpy',\n        FAILURES,\n    )", True),
        ('@opsToleranceOverride("SortTest", "test_numpy", (tol1("sum", {}),))', True),
        ('@opsToleranceOverride("SortTest", "test_copy", ())', False),
        ('@skipOps("SortTest", "test_copy", FAILURES)', False),
        ('@skipOps("SortTest", NAME, FAILURES)', False),
        ('@skipOps("Sort" "Test", "test_numpy", FAILURES)', False),
        ('@mine("SortTest", "test_numpy", FAILURES)', False),
    ],
)
def test_entries_that_a_test_makes_for_itself_go_with_it(tmp_path: Path, decorator: str, splits: bool) -> None:
    source = KEYED.replace("    @ops([])\n", f"    {decorator}\n    @ops([])\n")
    for path, text in ((ENTRIES, ""), ("test/test_sort.py", source)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    options = Options(only=("split_devices",), unsafe=True, split=True)
    (outcome,) = migrate_tree(Settings(), Discovery(tmp_path, ("test/test_sort.py",)), options).outcomes
    assert bool(outcome.changed) == splits
    if splits:
        moved = outcome.after.decode().partition("class SortTestCpuOnly")[2]
        assert "SortTestCpuOnly" in moved.partition("def test_numpy")[0]


ADDING = """\
def add_tests(cls):
    def make(n):
        def test(self, device):
            self.assertEqual(n, n)

        return test

    for n in (1, 2):
        name = f"test_{n}"
        assert not hasattr(cls, name), f"{name} already in {cls.__name__}"
        setattr(cls, name, make(n))


add_tests(SortTest)
"""


def with_adding(old: str = "", new: str = "") -> str:
    assert old in ADDING
    return SOURCE.replace(
        "instantiate_device_type_tests(SortTest", ADDING.replace(old, new) + "instantiate_device_type_tests(SortTest"
    )


def test_tests_that_a_function_adds_stay_with_the_class() -> None:
    after = migrated(with_adding(), "split_devices", unsafe=True, split=True)
    assert "class SortTestCpuOnly(_SortTestBase, TestCase):" in after
    assert "add_tests(SortTest)\ninstantiate_device_type_tests(SortTest, globals(), allow_mps=True)\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("add_tests(SortTest)", "add_tests(SortTest, 1)"),
        ("add_tests(SortTest)", "made = add_tests(SortTest)"),
        ("add_tests(SortTest)", "other.add_tests(SortTest)"),
        ("def add_tests(cls)", "@mine\ndef add_tests(cls)"),
        ("def add_tests(cls)", "def add_tests(cls, *more)"),
        ("assert not hasattr(cls, name)", "assert hasattr(cls, name)"),
        ('f"test_{n}"', 'f"helper_{n}"'),
        ("name = f", "name = n or f"),
        ("make(n))", "make(cls))"),
        ("make(n))", "make(n))\n    KNOWN.append(cls)"),
        ("self.assertEqual(n, n)", "self.test_numpy(n)"),
        ("self.assertEqual(n, n)", "getattr(self, 'test_numpy')(n)"),
        ("def make(n):", "def make(cls):"),
    ],
)
def test_a_function_that_may_do_more_to_the_class_stands_against_it(old: str, new: str) -> None:
    source = with_adding(old, new)
    outcome = migrate(source, "split_devices", unsafe=True, split=True)
    assert outcome.after.decode() == source
    assert reasons(outcome)["SortTest"] == "name-used-later"
