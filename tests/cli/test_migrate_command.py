"""``hwlint migrate`` on the command line."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import codemods.write
from tests.cli.project import TAGGED, UNTAGGED, Project

MIXED = """\
import torch
from torch.testing._internal.common_utils import TestCase


class MixedTest(TestCase):
    def test_a(self):
        self.assertEqual([], [])

    def test_b(self):
        torch.ones(2, device="cuda").sum()
"""


@pytest.fixture
def two(repository: Project) -> Project:
    """Two committed files: one to tag, one to refuse."""
    repository.untagged("test/test_a.py")
    repository.write("test/test_mixed.py", MIXED)
    repository.commit()
    return repository


def test_the_diff_goes_to_standard_output_and_the_report_to_standard_error(two: Project) -> None:
    assert two.hwlint("migrate", "--only", "tag_class") == 1
    assert two.out.startswith(
        "diff --git a/test/test_a.py b/test/test_a.py\n--- a/test/test_a.py\n+++ b/test/test_a.py\n@@ "
    )
    assert "+    hw_classification = HardwareClassification.GENERIC\n" in two.out
    assert "refused" not in two.out
    assert "test/test_mixed.py:5: refused, tag_class MixedTest: its tests belong to" in two.err
    assert "2 files: 1 change in 1 file to make" in two.err
    assert two.read("test/test_a.py") == UNTAGGED.format(name="ParserTest")
    subprocess.run(["git", "apply", "-"], input=two.out.encode(), check=True)
    assert two.read("test/test_a.py") == TAGGED.format(name="ParserTest")


def test_the_diff_is_coloured_when_asked(two: Project) -> None:
    two.hwlint("migrate", "--color", "test/test_a.py")
    assert "\x1b[32m+    hw_classification" in two.out


def test_write_changes_files_and_a_second_run_finds_nothing(two: Project) -> None:
    file = two.root / "test/test_a.py"
    file.chmod(0o755)
    two.commit()
    assert two.hwlint("migrate", "--write", "--only", "tag_class") == 0
    assert two.read("test/test_a.py") == TAGGED.format(name="ParserTest")
    assert stat.S_IMODE(file.stat().st_mode) == 0o755
    assert two.read("test/test_mixed.py") == MIXED
    assert "1 change in 1 file made" in two.out
    assert two.hwlint("migrate", "--only", "tag_class") == 0
    assert two.out == ""
    assert two.hwlint("check", "test/test_a.py", "--level", "upstream") == 0


def test_a_file_with_uncommitted_changes_is_not_written(two: Project) -> None:
    two.write("test/test_a.py", UNTAGGED.format(name="OtherTest"))
    two.untagged("test/test_new.py")
    assert two.hwlint("migrate", "--write") == 2
    assert two.read("test/test_a.py") == UNTAGGED.format(name="OtherTest")
    assert "not written: test/test_a.py: it has uncommitted changes" in two.out
    assert "not written: test/test_new.py" in two.out
    assert two.hwlint("migrate", "--write", "--allow-dirty") == 0
    assert two.read("test/test_a.py") == TAGGED.format(name="OtherTest")


def test_a_file_that_changes_in_between_is_not_written(two: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    real = codemods.write.dirty_files

    def meddle(*arguments: object) -> set[str]:
        found = real(*arguments)  # type: ignore[arg-type]
        two.write("test/test_a.py", "x = 1\n")
        return found

    monkeypatch.setattr(codemods.write, "dirty_files", meddle)
    assert two.hwlint("migrate", "--write") == 2
    assert two.read("test/test_a.py") == "x = 1\n"
    assert "it has changed since it was read" in two.out


def test_a_symbolic_link_stays_one(two: Project) -> None:
    real = two.root / "real.py"
    real.write_text(UNTAGGED.format(name="ParserTest"))
    link = two.root / "test/test_link.py"
    link.symlink_to(real)
    two.commit()
    assert two.hwlint("migrate", "--write", "test/test_link.py") == 0
    assert link.is_symlink()
    assert real.read_text() == TAGGED.format(name="ParserTest")


def test_check_says_only_whether_there_is_something_to_do(two: Project) -> None:
    assert two.hwlint("migrate", "--check", "test/test_a.py") == 1
    assert "diff" not in two.out
    assert two.hwlint("migrate", "--check", "test/test_mixed.py", "--only", "tag_class") == 0


def test_patches_are_written_one_a_file(two: Project) -> None:
    assert two.hwlint("migrate", "--patch-dir", "patches", "test/test_a.py") == 1
    subprocess.run(["git", "apply", "patches/test/test_a.py.patch"], check=True)
    assert two.read("test/test_a.py") == TAGGED.format(name="ParserTest")


def test_json_has_all_that_the_text_says(two: Project) -> None:
    assert two.hwlint("migrate", "--format", "json", "--only", "tag_class") == 1
    document = json.loads(two.out)
    assert document["version"] == 1
    assert document["summary"]["changes"] == 1
    assert document["summary"]["reasons"] == {"split": 1}
    first, second = document["files"]
    assert (first["path"], first["changed"], first["clean_upstream"]) == ("test/test_a.py", True, True)
    assert first["changes"][0]["description"] == "tag GENERIC"
    assert first["diff"].startswith("diff --git")
    assert (second["refusals"][0]["symbol"], second["refusals"][0]["line"]) == ("MixedTest", 5)
    assert second["refusals"][0]["advice"]


def test_the_summary_is_ready_for_a_pull_request(two: Project) -> None:
    assert two.hwlint("migrate", "--summary", "pr.md", "-q", "--only", "tag_class") == 1
    text = two.read("pr.md")
    assert "| `test/test_a.py` | `ParserTest` | GENERIC (certain) |" in text
    assert "| plain | 1 | 1 | 1 | 0 | 0 | 0 |" in text
    assert "| `test/test_mixed.py:5` | `MixedTest` | its tests belong to" in text
    assert two.hwlint("migrate", "--format", "markdown", "--only", "tag_class") == 1
    assert two.out == text


def test_codemods_are_listed_chosen_and_left_out(two: Project) -> None:
    assert two.hwlint("migrate", "--list") == 0
    assert "\ntag_class" in "\n" + two.out
    assert two.hwlint("migrate", "test/test_a.py", "--skip", "tag-class") == 0
    assert two.hwlint("migrate", "test/test_a.py", "--only", "super_calls,tag_class") == 1
    assert two.hwlint("migrate", "--only", "tag_clas") == 2
    assert "did you mean tag_class?" in two.err


def test_a_label_can_be_said(two: Project) -> None:
    assert two.hwlint("migrate", "test/test_mixed.py", "--only", "tag_class", "--label", "MixedTest=generic") in (0, 1)
    assert two.hwlint("migrate", "--label", "MixedTest=TPU") == 2
    assert "must be CLASS=LABEL" in two.err


def test_the_allowlist_gets_shorter(two: Project) -> None:
    two.write("allow.json", '[\n  "test/test_mixed.py",\n  "test/test_a.py"\n]\n')
    two.commit()
    assert two.hwlint("migrate", "--write", "--allowlist", "allow.json", "--only", "tag_class") == 0
    assert json.loads(two.read("allow.json")) == ["test/test_mixed.py"]
    assert "taken off the allowlist: test/test_a.py" in two.out


def test_names_keyed_elsewhere_are_reported(two: Project) -> None:
    source = "import torch\nfrom torch.testing._internal.common_utils import TestCase\n\n\n"
    source += "class PoolTest(TestCase):\n    def test_pool(self):\n        pass\n"
    two.write("test/test_pool.py", source)
    two.write("vendor/skips.txt", "PoolTest.test_pool\n")
    two.commit()
    label = ("--label", "PoolTest=XPU", "--only", "class_for_device")
    assert two.hwlint("migrate", "test/test_pool.py", *label, "--downstream", "vendor") == 1
    assert "vendor/skips.txt:1: PoolTest.test_pool (downstream) is now PoolTestXPU.test_pool_xpu" in two.err
    assert two.hwlint("migrate", "--downstream", "nowhere") == 2


def test_a_file_that_cannot_be_parsed_is_refused_and_the_others_go_on(two: Project) -> None:
    two.write("test/test_broken.py", "def (:\n")
    assert two.hwlint("migrate", "--only", "tag_class") == 1
    assert "test/test_broken.py:1: refused" in two.err
    assert "+    hw_classification" in two.out


def test_no_files_is_no_error(project: Project) -> None:
    assert project.hwlint("migrate") == 0


def test_options_that_exclude_each_other(two: Project) -> None:
    assert two.hwlint("migrate", "--write", "--patch-dir", "x") == 2


KILL = """\
import os, sys
import codemods.write
real = os.replace
def replace(*a):
    if "test_b" in str(a[1]): os.kill(os.getpid(), 9)
    real(*a)
os.replace = replace
from hwlint.cli import main
main(["migrate", "--write", "--allow-dirty", "--no-cache"])
"""


def test_a_kill_leaves_every_file_whole(project: Project) -> None:
    for name in "abc":
        project.untagged(f"test/test_{name}.py")
    root = Path(codemods.write.__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", KILL], env=environment, capture_output=True)
    assert done.returncode == -9
    texts = [project.read(f"test/test_{name}.py") for name in "abc"]
    whole = (UNTAGGED.format(name="ParserTest"), TAGGED.format(name="ParserTest"))
    assert all(text in whole for text in texts)
    assert texts[1] == whole[0]
    assert project.hwlint("migrate", "--write", "--allow-dirty") == 0
    assert [project.read(f"test/test_{name}.py") for name in "abc"] == [whole[1]] * 3
