"""``hwlint baseline``, and what ``check`` does with it."""

from __future__ import annotations

import json

import pytest

from tests.cli.project import Project


@pytest.fixture
def recorded(project: Project) -> Project:
    project.write("pyproject.toml", '[tool.hwlint]\nbaseline = "known.json"\n')
    project.untagged("test_a.py")
    project.untagged("test_b.py")
    assert project.hwlint("baseline", "--write") == 0
    assert project.err == "known.json: 2 findings recorded\n"
    return project


def test_only_new_findings_fail_wherever_the_lines_move(recorded: Project) -> None:
    assert recorded.hwlint("check") == 0
    old = recorded.read("test_a.py")
    recorded.write("test_a.py", "# moved\n\n" + old + old.replace("ParserTest", "NewTest"))
    assert recorded.concise() == ["test_a.py:12: HW101"]
    assert recorded.concise("--no-baseline") == ["test_a.py:6: HW101", "test_a.py:12: HW101", "test_b.py:4: HW101"]
    recorded.hwlint("check", "--format", "json")
    assert json.loads(recorded.out)["summary"]["baselined"] == 2


def test_check_says_what_is_gone(recorded: Project) -> None:
    assert recorded.hwlint("baseline") == 0
    recorded.tagged("test_a.py")
    assert recorded.hwlint("baseline", "--check") == 1
    assert recorded.out == "test_a.py: HW101 ParserTest\n"
    assert recorded.err == "1 recorded finding gone: write the baseline anew\n"
    recorded.hwlint("baseline", "--write")
    assert recorded.hwlint("baseline") == 0


def test_paths_bound_what_is_written(recorded: Project) -> None:
    recorded.tagged("test_a.py")
    recorded.tagged("test_b.py")
    assert recorded.hwlint("baseline", "--write", "test_a.py") == 0
    assert [f["path"] for f in json.loads(recorded.read("known.json"))["findings"]] == ["test_b.py"]


def test_findings_of_a_file_that_is_gone_go_too(recorded: Project) -> None:
    (recorded.root / "test_b.py").unlink()
    assert recorded.hwlint("baseline", "--check", "test_a.py") == 1
    assert recorded.out.startswith("test_b.py: HW101")


def test_the_option_goes_before_the_configuration(recorded: Project) -> None:
    recorded.untagged("test_c.py")
    assert recorded.hwlint("baseline", "--write", "--baseline", "other.json") == 0
    assert recorded.concise() == ["test_c.py:4: HW101"]
    assert recorded.concise("--baseline", "other.json") == []


def test_with_since_each_record_is_used_once(repository: Project) -> None:
    repository.write("pyproject.toml", '[tool.hwlint]\nbaseline = "known.json"\n')
    repository.untagged("test_a.py")
    repository.hwlint("baseline", "--write")
    repository.commit()
    # The baseline records one such finding, and that one is the revision's: the second is new to both.
    repository.write("test_a.py", repository.read("test_a.py") * 2)
    assert len(repository.concise("--since", "HEAD")) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["baseline", "--check", "--write"], "exclude each other"),
        (["baseline", "--baseline", "nowhere.json"], "nowhere.json: the baseline cannot be read"),
        (["check", "--baseline", "nowhere.json"], "nowhere.json: the baseline cannot be read"),
        (["check", "--baseline", "broken.json"], "not valid JSON"),
    ],
)
def test_status_2(recorded: Project, arguments: list[str], message: str) -> None:
    recorded.write("broken.json", "{")
    assert recorded.hwlint(*arguments) == 2
    assert message in recorded.err


def test_without_a_baseline_the_command_asks_which(project: Project) -> None:
    assert project.hwlint("baseline", "--write") == 2
    assert "which baseline?" in project.err
