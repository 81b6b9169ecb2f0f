"""``hwlint allowlist``, and what ``check`` does with the list."""

from __future__ import annotations

import json

import pytest

from tests.cli.project import Project


def listing(project: Project, *paths: str, name: str = "allowlist.json") -> None:
    project.write(name, json.dumps(list(paths), indent=2) + "\n")


@pytest.fixture
def listed(project: Project) -> Project:
    """One file that belongs in the list, one that is clean, one that is gone, one not listed that fails."""
    project.write("pyproject.toml", '[tool.hwlint]\nallowlist = "allowlist.json"\n')
    project.untagged("test/test_bad.py")
    project.tagged("test/test_good.py")
    project.untagged("test/test_new.py")
    listing(project, "test/test_bad.py", "test/test_gone.py", "test/test_good.py")
    return project


def test_check_passes_listed_files_over_and_reports_stale_entries(listed: Project) -> None:
    assert listed.concise() == ["allowlist.json:3: HW003", "allowlist.json:4: HW003", "test/test_new.py:4: HW101"]
    assert "allowlist entry 'test/test_good.py' is clean" in listed.out
    listed.hwlint("check", "--format", "json")
    assert json.loads(listed.out)["summary"]["allowlisted_files"] == 2


def test_a_run_on_single_files_judges_only_their_entries(listed: Project) -> None:
    assert listed.concise("test/test_new.py") == ["test/test_new.py:4: HW101"]
    assert listed.concise("test/test_good.py") == ["allowlist.json:4: HW003"]


def test_the_option_goes_before_the_configuration(listed: Project) -> None:
    listing(listed, "test/test_new.py", name="other.json")
    found = listed.concise("--allowlist", "other.json", "--ignore", "HW003")
    assert found == ["test/test_bad.py:4: HW101"]


def test_a_suppressed_finding_does_not_make_a_file_clean(listed: Project) -> None:
    file = listed.root / "test/test_bad.py"
    file.write_text(file.read_text().replace("TestCase):", "TestCase):  # hwlint: ignore[HW101]  not yet"))
    assert "allowlist.json:2: HW003" not in listed.concise()


def test_check_says_which_entries_are_stale(listed: Project) -> None:
    assert listed.hwlint("allowlist", "--check", "--format", "concise") == 1
    assert listed.out.splitlines() == [
        "allowlist.json:3:1: HW003 allowlist entry 'test/test_gone.py' is missing",
        "allowlist.json:4:1: HW003 allowlist entry 'test/test_good.py' is clean",
    ]
    listing(listed, "test/test_bad.py")
    assert listed.hwlint("allowlist") == 0
    assert listed.out == ""


def test_order_and_doubles_count_too(listed: Project) -> None:
    listing(listed, "test/test_new.py", "test/test_bad.py", "test/test_new.py")
    assert listed.hwlint("allowlist", "--format", "concise") == 1
    assert [line.rpartition("is ")[2] for line in listed.out.splitlines()] == ["unsorted", "duplicated"]


def test_update_only_ever_makes_it_shorter(listed: Project) -> None:
    assert listed.hwlint("allowlist", "--update") == 0
    assert listed.read("allowlist.json") == '[\n  "test/test_bad.py"\n]\n'
    assert listed.err == "allowlist.json: 2 files taken out, 0 put in, 1 file left\n"


def test_update_with_add_puts_in_what_fails(listed: Project) -> None:
    assert listed.hwlint("allowlist", "--update", "--add") == 0
    assert json.loads(listed.read("allowlist.json")) == ["test/test_bad.py", "test/test_new.py"]
    assert listed.concise("--level", "upstream") == []


def test_paths_bound_what_is_updated(listed: Project) -> None:
    assert listed.hwlint("allowlist", "--update", "test/test_good.py") == 0
    assert json.loads(listed.read("allowlist.json")) == ["test/test_bad.py", "test/test_gone.py"]


def test_a_list_that_is_right_is_not_written_again(listed: Project) -> None:
    listed.write("allowlist.json", '["test/test_bad.py"]')
    assert listed.hwlint("allowlist", "--update") == 0
    assert listed.read("allowlist.json") == '["test/test_bad.py"]'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--check", "--update"], "exclude each other"),
        (["--add"], "--add goes with --update"),
        (["--allowlist", "nowhere.json"], "nowhere.json: the allowlist cannot be read"),
    ],
)
def test_status_2(listed: Project, arguments: list[str], message: str) -> None:
    assert listed.hwlint("allowlist", *arguments) == 2
    assert message in listed.err


def test_without_a_list_the_command_asks_which(project: Project) -> None:
    assert project.hwlint("allowlist") == 2
    assert "which allowlist?" in project.err


def test_since_reports_an_entry_that_the_change_makes_stale(repository: Project) -> None:
    repository.write("pyproject.toml", '[tool.hwlint]\nallowlist = "allowlist.json"\n')
    repository.untagged("test_bad.py")
    listing(repository, "test_bad.py", "test_gone.py")
    repository.commit()
    assert repository.concise("--since", "HEAD") == []
    repository.tagged("test_bad.py")
    assert repository.concise("--since", "HEAD") == ["allowlist.json:2: HW003"]
