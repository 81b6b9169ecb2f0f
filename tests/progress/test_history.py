"""The course of a repository whose truth at each commit is known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from hwlint.git import Git
from hwlint.progress.history.commits import list_commits, sample
from tests.cli.project import Project
from tests.gitrepo import Repository
from tests.progress.invented import History, State, TestClass, Truth

Moved = tuple[Repository, list[Truth]]


def course(project: Project, *arguments: str) -> dict[str, Any]:
    status = project.hwlint("progress", "--history", "--format", "json", *arguments)
    assert status == 0, project.err
    history: dict[str, Any] = json.loads(project.out)["history"]
    return history


def labels(point: dict[str, Any], kind: str) -> dict[str, int]:
    found = {}
    for label, count in point["totals"]["labels"].items():
        number = count[f"{kind}_direct"] + count[f"{kind}_inherited"]
        if number:
            found["" if label == "unclassified" else label] = number
    return found


@pytest.fixture
def moved(project: Project, moved_suite: Moved, monkeypatch: pytest.MonkeyPatch) -> list[Truth]:
    repository, truths = moved_suite
    monkeypatch.chdir(repository.root)
    return truths


def check_truth(points: list[dict[str, Any]], truths: list[Truth]) -> None:
    assert [labels(p, "classes") for p in points] == [t.classes for t in truths]
    assert [labels(p, "tests") for p in points] == [t.tests for t in truths]
    assert [p["allowlist_entries"] for p in points] == [t.allowlist for t in truths]


def test_burn_down_is_the_truth_at_each_point(project: Project, moved: list[Truth]) -> None:
    points = course(project, "--every", "1", "--no-cache")["points"]
    assert len(points) == 60
    check_truth(points, moved)
    assert [p["totals"]["classes_unclassified"] for p in points] == [t.unclassified for t in moved]
    # What makes the history hard is in it: a rise, a merge that brings several files at once, inherited labels.
    steps = [b.unclassified - a.unclassified for a, b in zip(moved, moved[1:])]
    assert max(steps) > 0 and min(steps) <= -6 and moved[-1].unclassified <= 1
    assert points[-1]["totals"]["labels"]["GENERIC"]["classes_inherited"] > 0


def test_a_cached_run_says_the_same(project: Project, moved: list[Truth], tmp_path: Path) -> None:
    cache = ("--cache-dir", str(tmp_path / "cache"))
    first = course(project, "--every", "1", *cache)
    assert course(project, "--every", "1", *cache) == first
    check_truth(first["points"], moved)


def test_groups_add_up_to_the_whole(project: Project, moved: list[Truth]) -> None:
    for point in course(project, "--every", "5")["points"]:
        groups = point["groups"].values()
        assert set(point["groups"]) == {"core", "distributed", "graph"}
        assert sum(g["classes"] for g in groups) == point["totals"]["classes"]
        assert sum(g["files_allowlisted"] for g in groups) == point["totals"]["files_allowlisted"]


def test_points_by_week_month_and_number(project: Project, moved: list[Truth]) -> None:
    every_commit = course(project, "--every", "1")["points"]
    by_revision = {p["revision"]: t for p, t in zip(every_commit, moved)}
    last_of_week = {date.fromisoformat(p["date"][:10]).isocalendar()[:2]: p["revision"] for p in every_commit}
    last_of_month = {p["date"][:7]: p["revision"] for p in every_commit}
    tenth = [p["revision"] for p in every_commit[::-1][::10]]
    for every, ends in (("week", last_of_week.values()), ("month", last_of_month.values()), ("10", tenth)):
        points = course(project, "--every", every)["points"]
        assert {p["revision"] for p in points} == {every_commit[0]["revision"], *ends}
        check_truth(points, [by_revision[p["revision"]] for p in points])


def test_the_estimate_does_not_hang_on_what_is_shown(project: Project, moved: list[Truth]) -> None:
    estimates = [course(project, "--rev", "HEAD~20", "--every", every)["estimate"] for every in ("week", "month", "15")]
    assert estimates[0]["reason"] == "" and estimates[0] == estimates[1] == estimates[2]


def test_since_a_date_and_a_revision(project: Project, moved: list[Truth], moved_suite: Moved) -> None:
    since_date = course(project, "--every", "1", "--since", "2026-07-01")["points"]
    assert since_date[0]["date"] >= "2026-07-01" and len(since_date) == 60 - sum(
        p["date"] < "2026-07-01" for p in course(project, "--every", "1")["points"]
    )
    revision = moved_suite[0].git("rev-parse", "HEAD~10").strip()
    since_revision = course(project, "--every", "1", "--since", revision)["points"]
    assert since_revision[0]["revision"] == revision
    check_truth(since_revision, moved[-11:])


def test_a_bare_clone(project: Project, moved_suite: Moved, monkeypatch: pytest.MonkeyPatch) -> None:
    repository, truths = moved_suite
    subprocess.run(["git", "clone", "-q", "--bare", str(repository.root), "bare.git"], check=True)
    monkeypatch.chdir("bare.git")
    points = course(project, "--every", "1", "--no-cache", "--allowlist", "allowlist.json")["points"]
    check_truth(points, truths)


def test_a_bare_clone_with_its_configuration_in_the_commit(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(project.root / "work")
    repository.commit({"pyproject.toml": '[tool.hwlint]\ninclude = ["test"]\n'})
    project.untagged("work/test/test_a.py")
    project.untagged("work/other/test_b.py")
    repository.commit()
    subprocess.run(["git", "clone", "-q", "--bare", "work", "bare.git"], check=True)
    monkeypatch.chdir("bare.git")
    assert project.hwlint("progress", "--format", "json", "--no-cache") == 0, project.err
    assert [f["path"] for f in json.loads(project.out)["files"]] == ["test/test_a.py"]


def test_a_shallow_clone_says_that_it_is_one(
    project: Project, moved_suite: Moved, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, truths = moved_suite
    subprocess.run(["git", "clone", "-q", "--depth", "9", f"file://{repository.root}", "shallow"], check=True)
    monkeypatch.chdir("shallow")
    found = course(project, "--every", "1", "--no-cache", "--allowlist", "allowlist.json")
    check_truth(found["points"], truths[-9:])
    assert found["notes"] == ["the clone is shallow: its history starts at the first point shown"]


def test_since_the_clone_is_cut_off_only_where_it_shows(moved_suite: Moved, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", "--depth", "9", f"file://{moved_suite[0].root}", tmp_path / "s"], check=True)
    git = Git(tmp_path / "s")
    assert not list_commits(git, "HEAD").complete
    assert list_commits(git, "HEAD", "HEAD~3").complete
    assert list_commits(Git(moved_suite[0].root), "HEAD").complete


def test_a_folder_is_a_history_of_that_folder(project: Project, moved: list[Truth]) -> None:
    points = course(project, "test/nn", "--every", "20")["points"]
    assert {g for p in points for g in p["groups"]} == {"core"}
    assert points[-1]["totals"]["files"] == 11


def test_a_subfolder_as_root(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(project.root)
    project.write("part/pyproject.toml", "[tool.hwlint]\n")
    project.untagged("part/test/test_a.py")
    project.untagged("test_outside.py")
    repository.commit()
    project.tagged("part/test/test_a.py")
    repository.commit()
    monkeypatch.chdir("part")
    points = course(project, "--every", "1", "--no-cache")["points"]
    assert [(p["totals"]["files"], p["totals"]["classes_unclassified"]) for p in points] == [(1, 1), (1, 0)]


def test_a_base_that_appears_later_counts_from_then(project: Project) -> None:
    """Where a module is looked for in vain matters as much as where it is found."""
    history = History(project.root)
    cases = (TestClass("Cases", base="base_cases:Base", tests=1),)
    state = State({"test/deep/test_a.py": cases, "base_cases.py": (TestClass("Base", tests=0),)})
    head = history.commit(state, 0)
    state.tree["base_cases.py"] = (TestClass("Base", "CUDA", tests=0),)
    head = history.commit(state, 1, (head,))
    state.tree["test/base_cases.py"] = (TestClass("Base", "GENERIC", tests=0),)
    head = history.commit(state, 2, (head,))
    del state.tree["test/base_cases.py"], state.tree["base_cases.py"]
    history.commit(state, 3, (head,))
    history.finish()
    for arguments in (("--no-cache",), ("--cache-dir", "c"), ("--cache-dir", "c")):
        points = course(project, "--every", "1", *arguments)["points"]
        assert [labels(p, "classes") for p in points] == [{"": 1}, {"CUDA": 1}, {"GENERIC": 1}, {"": 1}]


def test_a_broken_file_is_a_file_without_classes(project: Project) -> None:
    repository = Repository(project.root)
    project.untagged("test_a.py")
    repository.commit()
    repository.commit({"test_a.py": "def broken(:\n"})
    points = course(project, "--every", "1", "--no-cache")["points"]
    assert [(p["totals"]["classes"], p["totals"]["files_broken"]) for p in points] == [(1, 0), (0, 1)]


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take UTF-8 names only")
def test_a_name_that_is_not_utf8(project: Project) -> None:
    repository = Repository(project.root)
    (project.root / os.fsdecode(b"test_\xff.py")).write_text("x = 1\n")
    project.untagged("test_a.py")
    repository.commit()
    points = course(project, "--no-cache")["points"]
    assert [(p["totals"]["files"], p["totals"]["files_broken"]) for p in points] == [(2, 1)]
    for name in ("text", "markdown", "csv", "html"):
        assert project.hwlint("progress", "--no-cache", "--format", name) == 0, project.err
        assert "test_\\xff.py" in project.out or name in ("text", "markdown")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--every", "fortnight"), "--every 'fortnight': must be 'week', 'month' or a number of commits"),
        (("--every", "0"), "--every '0': must be"),
        (("--since", "yesterday"), "--since 'yesterday': neither a date such as 2026-08-22 nor a revision"),
        (("--since", "2199-01-01"), "there is no commit since '2199-01-01'"),
    ],
)
def test_bad_arguments(project: Project, arguments: tuple[str, ...], message: str) -> None:
    repository = Repository(project.root)
    project.untagged("test_a.py")
    repository.commit()
    assert project.hwlint("progress", "--history", *arguments) == 2
    assert message in project.err


def test_no_git_says_what_to_do(project: Project) -> None:
    project.untagged("test_a.py")
    assert project.hwlint("progress", "--history") == 2
    assert "--snapshots FILE" in project.err


def test_commits_of_one_week_give_the_last(moved_suite: Moved) -> None:
    commits = list_commits(Git(moved_suite[0].root), "HEAD").commits
    weeks = sample(commits, "week")
    assert weeks[0] == commits[0]
    # 2026-01-05 and 2026-01-10 are of one week; the later one ends it, the first is kept as the start.
    assert [c.date[:10] for c in weeks[:3]] == ["2026-01-05", "2026-01-10", "2026-01-15"]
