"""``hwlint check`` from the outside: statuses, formats, what is new, what is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import TAGGED, UNTAGGED, Project

LOCATED = "test_a.py:4: HW101"
SOURCE = Path(__file__).resolve().parents[2]


def test_status_0_and_silence_for_a_clean_file(project: Project) -> None:
    project.tagged("test_a.py")
    assert project.hwlint("check") == 0
    assert (project.out, project.err) == ("", "")


def test_status_1_for_a_finding(project: Project) -> None:
    project.untagged("test_a.py")
    assert project.hwlint("check") == 1
    assert project.out.startswith("test_a.py\n     4:1 error HW101 ")
    assert project.out.endswith("\n\n1 error in 1 file\n")
    assert project.hwlint("check", "--exit-zero") == 0


def test_notes_alone_are_status_0(project: Project) -> None:
    project.write("pyproject.toml", '[tool.hwlint.severity]\nHW101 = "info"\n')
    project.untagged("test_a.py")
    assert project.hwlint("check") == 0
    assert "info HW101" in project.out


def test_a_file_that_cannot_be_parsed_is_a_finding_and_the_others_go_on(project: Project) -> None:
    project.write("test_b.py", "def broken(:\n")
    project.untagged("test_a.py")
    assert project.concise() == [LOCATED, "test_b.py:1: HW001"]


def test_an_unreadable_path_is_status_2(project: Project) -> None:
    assert project.hwlint("check", "nowhere") == 2
    assert project.err == "error: nowhere: no such file or folder\n"


def test_an_internal_error_is_status_3_with_the_files_name(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("hwlint.rules.contract.MissingClassification.check", broken)
    project.untagged("test_a.py")
    project.write("test_b.py", "def broken(:\n")
    assert project.hwlint("check", "--format", "concise", "--no-cache") == 3
    assert project.err.startswith("internal error: test_a.py: HW101: KeyError: 'oops'\n")
    assert project.out.startswith("test_b.py:1:")
    assert project.hwlint("check", "--format", "json", "--no-cache") == 3
    assert json.loads(project.out)["errors"][0] == {
        "path": "test_a.py",
        "stage": "HW101",
        "message": "KeyError: 'oops'",
    }
    assert project.hwlint("check", "--verbose", "--no-cache") == 3
    assert "Traceback" in project.err


def test_lintrunner_is_status_0_with_findings_and_still_2_for_what_cannot_be_done(project: Project) -> None:
    project.untagged("test_a.py")
    project.write("paths", f"{project.root}/test_a.py\n")
    assert project.hwlint("check", "--format", "lintrunner", "@paths") == 0
    assert {json.loads(line)["path"] for line in project.out.splitlines()} == {str(project.root / "test_a.py")}
    assert project.hwlint("check", "--format", "lintrunner", "nowhere.py") == 2


def test_no_file_at_all_is_fine(project: Project) -> None:
    project.untagged("test_a.py")
    project.write("paths", "")
    assert project.hwlint("check", "@paths") == 0
    assert project.out == ""


def test_select_and_ignore(project: Project) -> None:
    project.untagged("test_a.py")
    assert project.concise("--select", "HW1") == [LOCATED]
    assert project.concise("--select", "hw2,HW3") == []
    assert project.concise("--ignore", "HW1", "--ignore", "HW2") == []


def test_level_is_the_options_before_the_configurations(project: Project) -> None:
    project.write("pyproject.toml", '[tool.hwlint]\nlevel = "upstream"\n')
    project.write("test_a.py", "import torch\nx = torch.ones(1).cuda()\n")
    assert project.concise() == []
    assert project.hwlint("check", "--level", "full", "--format", "json") in (0, 1)
    assert json.loads(project.out)["level"] == "full"


def test_output_goes_to_the_file_whole(project: Project) -> None:
    project.untagged("test_a.py")
    assert project.hwlint("check", "--format", "json", "--output", "report.json") == 1
    assert project.out == ""
    assert json.loads(project.read("report.json"))["summary"]["errors"] == 1
    assert project.hwlint("check", "--output", "nowhere/report") == 2


def test_statistics(project: Project) -> None:
    project.untagged("test_a.py")
    assert project.hwlint("check", "--statistics", "--quiet") == 1
    assert project.out == "1  HW101  missing-classification\n"


def test_color_only_where_it_is_asked_for(project: Project) -> None:
    project.untagged("test_a.py")
    project.hwlint("check")
    assert "\x1b" not in project.out
    project.hwlint("check", "--color")
    assert "\x1b[1;31merror" in project.out


def test_suppressed_findings_can_be_seen(project: Project) -> None:
    file = project.untagged("test_a.py")
    file.write_text(file.read_text().replace("TestCase):", "TestCase):  # hwlint: ignore[HW101]  moves soon"))
    assert project.concise() == []
    assert project.concise("--no-suppress") == [LOCATED]


def test_order_and_bytes_do_not_depend_on_processes_or_cache(project: Project) -> None:
    for number in range(30):
        project.untagged(f"test_{number}.py").write_bytes(project.untagged("x.py").read_bytes() + b"# " * 20_000)
    outputs = set()
    for options in (["--jobs", "1", "--no-cache"], ["--jobs", "3", "--no-cache"], [], []):
        assert project.hwlint("check", "--format", "json", *options) == 1
        outputs.add(project.out)
    assert len(outputs) == 1


class TestSince:
    def test_only_what_the_change_adds(self, repository: Project) -> None:
        repository.untagged("test_a.py", "OldTest")
        repository.untagged("test_b.py")
        repository.commit()
        old = repository.read("test_a.py")
        repository.write("test_a.py", "# moved down\n\n" + old + old.replace("OldTest", "NewTest"))
        repository.untagged("test_c.py", "UntrackedTest")
        assert repository.concise("--since", "HEAD") == ["test_a.py:12: HW101", "test_c.py:4: HW101"]
        assert repository.hwlint("check", "--since", "HEAD", "--format", "json") == 1
        document = json.loads(repository.out)
        assert document["revision"] == "HEAD"
        assert (document["summary"]["findings"], document["summary"]["unchanged"]) == (2, 2)

    def test_a_renamed_file_takes_its_findings_along(self, repository: Project) -> None:
        repository.untagged("test_a.py")
        repository.commit()
        repository.git("mv", "test_a.py", "test_b.py")
        assert repository.concise() == ["test_b.py:4: HW101"]
        assert repository.concise("--since", "HEAD") == []

    def test_a_change_of_the_base_counts_where_it_shows(self, repository: Project) -> None:
        base = "class Cases:\n    def {}(self, device):\n        self.assertTrue(device)\n"
        repository.write("cases.py", base.format("check_it"))
        repository.write(
            "test_a.py",
            "from cases import Cases\n"
            "from torch.testing._internal.common_device_type import instantiate_device_type_tests\n"
            "from torch.testing._internal.common_utils import HardwareClassification, TestCase\n"
            "class OpsTest(Cases, TestCase):\n"
            "    hw_classification = HardwareClassification.ACCELERATOR\n"
            "    def test_b(self, device):\n"
            "        self.assertTrue(device)\n"
            "instantiate_device_type_tests(OpsTest, globals())\n",
        )
        repository.commit()
        assert repository.concise("--since", "HEAD") == []
        repository.write("cases.py", base.format("test_it"))
        assert repository.concise("--since", "HEAD") == ["test_a.py:4: HW601"]

    def test_staged_looks_at_the_index(self, repository: Project) -> None:
        repository.tagged("test_a.py")
        repository.commit()
        repository.untagged("test_a.py")
        assert repository.concise("--staged") == []
        repository.git("add", "test_a.py")
        repository.tagged("test_a.py")
        assert repository.concise("--staged") == [LOCATED]
        assert repository.hwlint("check", "--staged") == 1
        # The excerpt is the staged text, not that of the file on disk.
        assert "       4 | class ParserTest(TestCase):" in repository.out

    def test_a_revision_that_is_not_there_is_status_2(self, repository: Project) -> None:
        repository.untagged("test_a.py")
        repository.commit()
        assert repository.hwlint("check", "--since", "nowhere") == 2
        assert "there is no revision 'nowhere' here" in repository.err
        assert repository.hwlint("check", "--since", "HEAD", "--staged") == 2

    def test_outside_a_repository_is_status_2(self, project: Project) -> None:
        project.untagged("test_a.py")
        assert project.hwlint("check", "--since", "HEAD") == 2
        assert "not a git repository" in project.err


def test_fix_makes_the_safe_changes_and_reports_what_is_left(project: Project) -> None:
    project.untagged("test_a.py")
    bound = "\n    def test_bound(self):\n        torch.ones(1).cuda()\n"
    project.write("test_b.py", "import torch\n" + UNTAGGED.format(name="BoundTest") + bound)
    assert project.hwlint("check", "--fix", "--format", "concise") == 1
    assert project.read("test_a.py") == TAGGED.format(name="ParserTest")
    assert "hw_classification" not in project.read("test_b.py")
    assert project.err == "fixed 1 file: test_a.py\n"
    assert "test_a.py" not in project.out and "test_b.py:5:1: HW101" in project.out


def test_fix_without_anything_to_fix_changes_nothing(project: Project) -> None:
    project.tagged("test_a.py")
    before = project.read("test_a.py")
    assert project.hwlint("check", "--fix") == 0
    assert (project.read("test_a.py"), project.out, project.err) == (before, "", "")


def test_fix_and_staged_exclude_each_other(project: Project) -> None:
    assert project.hwlint("check", "--fix", "--staged") == 2


def test_lintrunner_gets_the_whole_text_before_and_after(project: Project) -> None:
    project.untagged("test_a.py")
    assert project.hwlint("check", "--format", "lintrunner") == 0
    lints = [json.loads(line) for line in project.out.splitlines()]
    (replaced,) = [one for one in lints if one["replacement"] is not None]
    assert replaced["original"] == UNTAGGED.format(name="ParserTest")
    assert replaced["replacement"] == TAGGED.format(name="ParserTest")
    assert project.read("test_a.py") == UNTAGGED.format(name="ParserTest")
