"""Classes that another file imports: it imports what comes of them, in the same run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from codemods.pipeline import Outcome
from codemods.plan import Options
from codemods.run import migrate as migrate_tree
from codemods.write import write_files
from hwlint.config import Settings
from hwlint.discover import Discovery
from tests.gitrepo import Repository
from tests.support import run_torch_tests

HASH = "test/jit/test_hash.py"
JIT = "test/test_jit.py"
MIXED = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class HashTest(TestCase):
    def test_int(self):
        self.assertEqual(hash(1), 1)

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_tensor(self):
        self.assertEqual(torch.ones(3).cuda().sum(), 3)
"""
WHOLE = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase


class HashTest(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_tensor(self):
        self.assertEqual(torch.ones(3).cuda().sum(), 3)
"""
COLLECTS = """\
import sys

from jit.test_hash import HashTest  # noqa: F401
from torch.testing._internal.common_utils import run_tests

if __name__ == "__main__":
    run_tests()
"""


def outcomes_of(
    root: Path, files: Mapping[str, str], *paths: str, options: Options | None = None
) -> dict[str, Outcome]:
    """What becomes of ``paths``, all files where none is given, in a tree of these files."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    discovery = Discovery(root, tuple(sorted(paths or files)))
    done = migrate_tree(Settings(root=root), discovery, options or Options(unsafe=True, split=True), jobs=1)
    assert not any(o.crash for o in done.outcomes), [o.crash for o in done.outcomes]
    return {o.path: o for o in done.outcomes}


def text_of(outcome: Outcome) -> str:
    return outcome.after.decode()


def reasons(outcome: Outcome) -> dict[str, str]:
    return {r.codemod: f"{r.reason}: {r.text}" for r in outcome.refusals if r.symbol == "HashTest"}


def test_what_a_split_takes_out_of_a_class_is_imported_too(tmp_path: Path) -> None:
    found = outcomes_of(tmp_path, {HASH: MIXED, JIT: COLLECTS})
    assert (
        f"HashTestDeviceCPU = HashTestDeviceCUDA = None  # {JIT} imports them\n"
        "instantiate_device_type_tests(HashTestDevice, globals())\n" in text_of(found[HASH])
    )
    new = "from jit.test_hash import HashTest, HashTestDeviceCPU, HashTestDeviceCUDA  # noqa: F401\n"
    assert text_of(found[JIT]) == COLLECTS.replace("from jit.test_hash import HashTest  # noqa: F401\n", new)
    assert found[HASH].clean_after


def test_a_class_that_is_instantiated_is_no_longer_imported_itself(tmp_path: Path) -> None:
    found = outcomes_of(tmp_path, {HASH: WHOLE, JIT: COLLECTS})
    assert "HashTestCUDA = None" in text_of(found[HASH])
    assert "from jit.test_hash import HashTestCPU, HashTestCUDA  # noqa: F401\n" in text_of(found[JIT])


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    for source in (MIXED, WHOLE):
        first = outcomes_of(tmp_path, {HASH: source, JIT: COLLECTS})
        again = outcomes_of(tmp_path, {path: text_of(o) for path, o in first.items()})
        assert not any(o.changed for o in again.values())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from jit.test_hash import (\n    HashTest,\n    Other,\n)\n",
            "from jit.test_hash import (\n    HashTestCPU,\n    HashTestCUDA,\n    Other,\n)\n",
        ),
        ("from jit.test_hash import Other, HashTest\n", "from jit.test_hash import Other, HashTestCPU, HashTestCUDA\n"),
        (
            "try:\n    from jit.test_hash import HashTest\nexcept ImportError:\n    pass\n",
            "try:\n    from jit.test_hash import HashTestCPU, HashTestCUDA\nexcept ImportError:\n    pass\n",
        ),
        (
            "if True:\n    from jit.test_hash import HashTest, Other as WithAVeryLongNameThatTakesRoom  # why\n",
            "if True:\n    from jit.test_hash import (  # why\n        HashTestCPU,\n        HashTestCUDA,\n"
            "        Other as WithAVeryLongNameThatTakesRoom,\n    )\n",
        ),
    ],
)
def test_layouts_of_the_import(tmp_path: Path, before: str, after: str) -> None:
    found = outcomes_of(tmp_path, {HASH: WHOLE + "\n\nclass Other:\n    pass\n", JIT: before})
    assert text_of(found[JIT]) == after


def test_several_classes_of_one_statement(tmp_path: Path) -> None:
    source = WHOLE + WHOLE.partition("\n\n\n")[2].replace("HashTest", "MoreTest").join(["\n\n", ""])
    found = outcomes_of(tmp_path, {HASH: source, JIT: "from jit.test_hash import HashTest, MoreTest\n"})
    expected = "from jit.test_hash import HashTestCPU, HashTestCUDA, MoreTestCPU, MoreTestCUDA\n"
    assert text_of(found[JIT]) == expected


def test_who_imports_all_there_is_gets_it_without_a_change(tmp_path: Path) -> None:
    found = outcomes_of(tmp_path, {HASH: WHOLE, JIT: "from jit.test_hash import *\n"})
    assert not found[JIT].changed
    assert "= None" not in text_of(found[HASH]) and "instantiate_device_type_tests(HashTest," in text_of(found[HASH])


@pytest.mark.parametrize(
    ("importer", "words"),
    [
        (COLLECTS + "\nclass More(HashTest):\n    pass\n", "and uses it|More derives from it"),
        (COLLECTS + "\nprint(HashTest)\n", "and uses it"),
        (COLLECTS + "\n__all__ = ['HashTest']\n", "and uses it"),
        ("from jit.test_hash import HashTest as Other\n", "in an unusual way"),
        ("from .jit.test_hash import HashTest\n", "in an unusual way"),
        ("import jit.test_hash\n\nprint(jit.test_hash.HashTest)\n", "in an unusual way"),
        ("def load():\n    from jit.test_hash import HashTest\n", "in an unusual way"),
        ("def load():\n    from jit.test_hash import (\n        HashTest,\n    )\n", "in an unusual way"),
        ("from jit.test_hash import *\n\nprint(HashTest)\n", "in an unusual way"),
        ("import jit.test_hash as hashes\n\nprint(hashes.HashTest)\n", "in an unusual way"),
        ("from jit import test_hash\n\nprint(vars(test_hash))\n", "in an unusual way"),
        ("import jit.test_hash as hashes\nfrom jit.test_hash import make\n", "in an unusual way"),
    ],
)
@pytest.mark.parametrize("source", [MIXED, WHOLE], ids=["mixed", "whole"])
def test_who_does_more_with_it_keeps_it(tmp_path: Path, source: str, importer: str, words: str) -> None:
    found = outcomes_of(tmp_path, {HASH: source, JIT: importer})
    assert not found[HASH].changed or "instantiate" not in text_of(found[HASH])
    said = " ".join(reasons(found[HASH]).values())
    assert any(word in said for word in words.split("|")), said


def test_an_import_of_something_else_is_no_obstacle(tmp_path: Path) -> None:
    other = "def load():\n    from jit.test_hash import helper\n"
    found = outcomes_of(tmp_path, {HASH: WHOLE + "\n\ndef helper():\n    pass\n", JIT: other})
    assert "instantiate_device_type_tests(HashTest," in text_of(found[HASH])


def test_who_only_runs_the_module_takes_nothing_of_it(tmp_path: Path) -> None:
    found = outcomes_of(tmp_path, {HASH: MIXED, JIT: "from jit import test_hash  # noqa: F401\n"})
    assert "instantiate_device_type_tests(HashTestDevice," in text_of(found[HASH]) and not found[JIT].changed


def test_the_other_file_has_to_be_in_the_run(tmp_path: Path) -> None:
    found = outcomes_of(tmp_path, {HASH: MIXED, JIT: COLLECTS}, HASH)
    assert "instantiate" not in text_of(found[HASH])
    assert f"imported-elsewhere: {JIT} imports it, and would have to be migrated in the same run" in " ".join(
        reasons(found[HASH]).values()
    )


@pytest.mark.parametrize(("importer", "seen"), [("test_jit.py", True), ("deep/test_jit.py", False)])
def test_of_a_file_at_the_root_only_files_beside_it_are_read(tmp_path: Path, importer: str, seen: bool) -> None:
    files = {"test_hash.py": MIXED, importer: COLLECTS.replace("jit.test_hash", "test_hash")}
    found = outcomes_of(tmp_path, files, "test_hash.py")
    assert ("instantiate" not in text_of(found["test_hash.py"])) == seen


def test_an_import_that_cannot_follow_takes_the_change_back(tmp_path: Path) -> None:
    skip = Options(unsafe=True, split=True, skip=("imported_classes",))
    found = outcomes_of(tmp_path, {HASH: MIXED, JIT: COLLECTS}, options=skip)
    assert not found[JIT].changed and "instantiate" not in text_of(found[HASH])
    assert "its import could not be changed" in " ".join(reasons(found[HASH]).values())


def test_of_two_importers_neither_follows_where_one_cannot(tmp_path: Path) -> None:
    """A statement behind the import stands where the names would have to go, a line each."""
    stuck = (
        "from jit.test_hash import HashTest, Other as SomethingWithANameThatIsLongEnough; import sys, os, math, re\n"
    )
    source = WHOLE + "\n\nclass Other:\n    pass\n"
    found = outcomes_of(tmp_path, {HASH: source, JIT: COLLECTS, "test/test_other.py": stuck})
    assert not any(o.changed for path, o in found.items() if path != HASH)
    assert "instantiate" not in text_of(found[HASH])
    assert "its import could not be changed" in " ".join(reasons(found[HASH]).values())


def test_a_codemod_that_is_asked_for_alone_takes_the_import_with_it(tmp_path: Path) -> None:
    only = Options(unsafe=True, split=True, only=("split_class",))
    found = outcomes_of(tmp_path, {HASH: MIXED, JIT: COLLECTS}, options=only)
    assert "import HashTest, HashTestDevice  # noqa" in text_of(found[JIT])


def test_a_safe_run_changes_no_imports(tmp_path: Path) -> None:
    found = outcomes_of(tmp_path, {HASH: WHOLE, JIT: COLLECTS}, options=Options())
    assert not any(o.changed for o in found.values())
    assert f"{JIT} imports it" in found[HASH].held[0].description


@pytest.mark.parametrize("dirty", [HASH, JIT])
def test_both_files_are_written_or_neither(tmp_path: Path, dirty: str) -> None:
    repository = Repository(tmp_path)
    found = outcomes_of(tmp_path, {HASH: MIXED, JIT: COLLECTS})
    repository.commit()
    with (tmp_path / dirty).open("a") as file:
        file.write("# mine\n")
    written, unwritten = write_files(tmp_path, found.values(), allow_dirty=False)
    assert not written
    other = JIT if dirty == HASH else HASH
    whys = {one.path: one.why for one in unwritten}
    assert "uncommitted changes" in whys[dirty] and whys[other] == f"{dirty}, which goes with it, is not written"
    assert (tmp_path / other).read_bytes() == found[other].before


def test_torch_collects_the_same_tests(torch_python: Path, tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    found = outcomes_of(tmp_path / "before", {HASH: MIXED, JIT: COLLECTS})
    for path, outcome in found.items():
        (tmp_path / "after" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "after" / path).write_bytes(outcome.after)
    runs = [run_torch_tests(torch_python, tmp_path / side / JIT) for side in ("before", "after")]
    counted = [sorted(line.split()[0] for line in r.stderr.splitlines() if line.startswith("test_")) for r in runs]
    assert [r.returncode for r in runs] == [0, 0], [r.stderr for r in runs]
    assert counted == [["test_int", "test_tensor"], ["test_int", "test_tensor_cpu"]]


VENDOR = MIXED.replace("torch.ones(3).cuda().sum(), 3", "torch.cuda.nccl.version(), 3").replace("is_cuda", "is_nccl")


@pytest.mark.parametrize(
    ("source", "made"),
    [
        (VENDOR, "HashTestCudaOnlyCUDA"),
        (VENDOR.replace("    def test_int(self):\n        self.assertEqual(hash(1), 1)\n\n", ""), "HashTestCUDA"),
    ],
    ids=["split", "whole"],
)
def test_a_class_for_one_device_is_there_on_hosts_without_it(tmp_path: Path, source: str, made: str) -> None:
    """By name, and None: else the import of the other file would fail there."""
    found = outcomes_of(tmp_path, {HASH: source, JIT: COLLECTS})
    call = f'instantiate_device_type_tests({made.removesuffix("CUDA")}, globals(), only_for="cuda")\n'
    assert f"\n{made} = None  # {JIT} imports it\n{call}" in text_of(found[HASH])
    assert f"{made}  # noqa: F401\n" in text_of(found[JIT])


INSTANTIATED = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCPU
from torch.testing._internal.common_utils import TestCase


class HashTest(TestCase):
    def test_sum(self, device):
        self.assertEqual(torch.ones(3, device=device).sum(), 3)

    @onlyCPU
    def test_cpu(self, device):
        self.assertEqual(torch.ones(3, device=device).numpy().sum(), 3)


instantiate_device_type_tests(HashTest, globals())
"""


@pytest.mark.parametrize("name", ["HashTestCPU", "HashTestCUDA", "*"])
def test_what_the_loader_makes_may_be_imported_as_well(tmp_path: Path, name: str) -> None:
    found = outcomes_of(tmp_path, {HASH: INSTANTIATED, JIT: f"from jit.test_hash import {name}\n"})
    assert ("class HashTestCpuOnly" in text_of(found[HASH])) == (name == "*")
    if name != "*":
        assert f"{JIT} imports {name}" in " ".join(reasons(found[HASH]).values())


def test_parts_that_stay_plain_are_imported_by_their_own_names(tmp_path: Path) -> None:
    extra = (
        "\n    @onlyCUDA\n    def test_graph(self, device):\n        torch.cuda.nccl.version()\n"
        "\n    def test_on(self, device):\n        self.assertEqual(torch.ones(1, device=device).sum(), 1)\n"
    )
    imported = "import torch\nfrom torch.testing._internal.common_device_type import onlyCUDA\n"
    found = outcomes_of(tmp_path, {HASH: MIXED.replace("import torch\n", imported) + extra, JIT: COLLECTS})
    names = [line.strip(" ,") for line in text_of(found[JIT]).splitlines() if line.startswith("    HashTest")]
    assert names == ["HashTest", "HashTestDeviceCPU", "HashTestDeviceCUDA", "HashTestCudaOnly", "HashTestPinned"]


def test_what_was_written_is_put_back_where_the_other_file_cannot_be(tmp_path: Path) -> None:
    found = outcomes_of(tmp_path, {HASH: MIXED + "# filler\n" * 9000, JIT: COLLECTS})
    resource = pytest.importorskip("resource", reason="nothing limits the size of a file here")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        written, unwritten = write_files(tmp_path, found.values(), allow_dirty=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    whys = {one.path: one.why for one in unwritten}
    assert not written and whys[HASH] == "cannot be written: File too large"
    assert whys[JIT] == f"{HASH}, which goes with it, is not written"
    assert all((tmp_path / path).read_bytes() == found[path].before for path in (HASH, JIT))
