"""Two snapshots side by side, and what CI may object to."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwlint.progress.compare import compare
from hwlint.progress.document import dump_line, read_snapshot, report_document, snapshot_document
from hwlint.progress.gates import over_limit, worse_than
from hwlint.progress.model import ClassState, Construct, FileState, Origin, Snapshot
from hwlint.progress.steps import next_step
from hwlint.scan.facts import LABELS
from tests.cli.project import Project
from tests.progress.sample import write_sample


def cls(name: str, label: str = "", bound: bool = False) -> ClassState:
    found = (Construct("HW201", "cuda", 2),) if bound else ()
    return ClassState(name, 3, label, inherited=False, tests=2, inherited_tests=0, bound=found)


def file(path: str, *classes: ClassState, listed: bool = False, problem: str = "") -> FileState:
    found = FileState(path, "core", (), (), classes, allowlisted=listed, problem=problem)
    return replace(found, step=next_step(found))


def snapshot(*files: FileState) -> Snapshot:
    return Snapshot(Origin("f" * 40, "2026-08-22T00:00:00Z", hwlint="1"), files)


def moves(before: Snapshot, after: Snapshot) -> list[tuple[str, str, str, str]]:
    return [(m.kind, m.name, m.before, m.after) for m in compare(before, after).moves]


def test_each_kind_of_move() -> None:
    before = snapshot(
        file("test_a.py", cls("A"), cls("B", "GENERIC"), cls("C", "CUDA"), cls("D", "CPU"), cls("Gone", "CPU")),
        file("test_b.py", cls("E", "ACCELERATOR"), cls("F", "GENERIC", bound=True)),
    )
    after = snapshot(
        file("test_a.py", cls("A", "GENERIC"), cls("B"), cls("C", "ACCELERATOR"), cls("D", "CPU"), cls("New", "XPU")),
        file("test_b.py", cls("E", "ACCELERATOR", bound=True), cls("F", "GENERIC")),
    )
    assert moves(before, after) == [
        ("classified", "A", "", "GENERIC"),
        ("declassified", "B", "GENERIC", ""),
        ("relabelled", "C", "CUDA", "ACCELERATOR"),
        ("removed", "Gone", "CPU", ""),
        ("added", "New", "", "XPU"),
        ("bound", "E", "ACCELERATOR", "ACCELERATOR"),
        ("unbound", "F", "GENERIC", "GENERIC"),
    ]
    assert [(r.kind, r.name) for r in compare(before, after).regressions] == [("declassified", "B"), ("bound", "E")]


def test_a_renamed_file_is_neither_new_nor_a_step_back() -> None:
    before = snapshot(file("test_old.py", cls("A"), cls("B", "GENERIC"), listed=True))
    after = snapshot(file("nn/test_new.py", cls("A"), cls("B", "GENERIC"), listed=True))
    found = compare(before, after)
    assert (found.moves, found.regressions) == ((), ())
    assert found.files_renamed == (("test_old.py", "nn/test_new.py"),)
    assert (found.files_added, found.files_removed) == ((), ())


def test_a_class_that_loses_its_label_on_the_way_is_a_step_back() -> None:
    before = snapshot(file("test_a.py", cls("A", "GENERIC")), file("test_b.py", cls("B", "GENERIC")))
    after = snapshot(file("test_a.py"), file("test_b.py", cls("B", "GENERIC"), cls("A")))
    found = compare(before, after)
    assert [(m.kind, m.moved_from) for m in found.moves] == [("declassified", "test_a.py")]
    assert [r.kind for r in found.regressions] == ["declassified"]


def test_a_name_that_left_two_places_is_not_followed() -> None:
    before = snapshot(file("test_a.py", cls("A")), file("test_b.py", cls("A", "CPU")))
    after = snapshot(file("test_c.py", cls("A")))
    assert [m.kind for m in compare(before, after).moves] == ["removed", "removed", "added"]


def test_two_classes_of_one_name_in_a_file() -> None:
    before = snapshot(file("test_a.py", cls("A"), cls("A")))
    after = snapshot(file("test_a.py", cls("A"), cls("A", "GENERIC")))
    assert moves(before, after) == [("classified", "A", "", "GENERIC")]


def test_files_that_are_newly_listed_or_broken_are_steps_back() -> None:
    before = snapshot(file("test_a.py", cls("A", "CPU")), file("test_b.py", cls("B", "CPU")))
    after = snapshot(file("test_a.py", cls("A", "CPU"), listed=True), file("test_b.py", problem="invalid syntax"))
    found = compare(before, after)
    assert [(r.kind, r.path) for r in found.regressions] == [("listed", "test_a.py"), ("broken", "test_b.py")]
    assert found.listed == ("test_a.py",)
    assert compare(after, before).unlisted == ("test_a.py",)


def test_limit() -> None:
    state = snapshot(file("test_a.py", cls("A"), cls("B"), cls("C", "CPU")))
    assert over_limit(state, 2) == []
    assert over_limit(state, 1) == ["2 classes are unclassified, 1 more than the 1 allowed"]


def test_lines_of_what_is_worse() -> None:
    before = snapshot(file("test_a.py", cls("A", "CPU")))
    after = snapshot(file("test_a.py", cls("A"), cls("New")))
    assert worse_than(after, before) == [
        "test_a.py: A was CPU and has no classification any more",
        "test_a.py: New is new and has no classification",
    ]


LABEL = st.sampled_from(["", *LABELS])
CLASSES = st.builds(cls, st.sampled_from("ABC"), LABEL, st.booleans())
FILES = st.lists(
    st.builds(file, st.sampled_from(["a.py", "b.py", "c/d.py"]), CLASSES, CLASSES), unique_by=lambda f: f.path
)
SNAPSHOTS = FILES.map(lambda files: snapshot(*sorted(files, key=lambda f: f.path)))


@given(SNAPSHOTS, SNAPSHOTS)
def test_moves_explain_the_difference(before: Snapshot, after: Snapshot) -> None:
    def unclassified(state: Snapshot) -> int:
        return sum(f.unclassified for f in state.files)

    found = compare(before, after)
    change = sum(
        (m.kind in ("declassified", "added") and not m.after) - (m.kind in ("classified", "removed") and not m.before)
        for m in found.moves
    )
    assert unclassified(after) - unclassified(before) == change
    assert compare(after, after).moves == compare(after, after).regressions == ()


@given(SNAPSHOTS)
def test_a_stored_snapshot_is_read_back_as_it_was(state: Snapshot) -> None:
    assert read_snapshot(snapshot_document(state)) == state
    assert read_snapshot(json.loads(dump_line(state))) == state
    assert read_snapshot(json.loads(json.dumps(report_document(state, depth=2)))) == state


# The command line.


@pytest.fixture
def sample(project: Project) -> Project:
    write_sample(project.root)
    assert project.hwlint("progress", "--format", "json", "-o", "before.json", "--no-cache") == 0
    return project


def test_compare_command(sample: Project) -> None:
    sample.tagged("test/nn/test_plain.py", "Parser")
    sample.hwlint("progress", "--format", "json", "-o", "after.json", "--no-cache")
    assert sample.hwlint("progress", "--compare", "before.json", "after.json") == 0
    assert "unclassified classes: 2 -> 1 (-1)" in sample.out
    assert "Newly classified: 1" in sample.out
    assert sample.hwlint("progress", "--compare", "before.json", "after.json", "--format", "json") == 0
    found: dict[str, Any] = json.loads(sample.out)
    assert [(m["kind"], m["path"], m["name"]) for m in found["moves"]] == [
        ("classified", "test/nn/test_plain.py", "Parser")
    ]
    assert sample.hwlint("progress", "--compare", "before.json", "after.json", "--format", "markdown") == 0
    assert sample.out.startswith("## What moved\n")
    assert sample.hwlint("progress", "--compare", "before.json", "after.json", "--format", "html") == 2


def test_no_regression_command(sample: Project) -> None:
    arguments = ("progress", "--no-cache", "--no-regression", "before.json")
    assert sample.hwlint(*arguments) == 0 and sample.err == ""
    sample.untagged("test/test_inherit.py", "OnlyInherited")
    assert sample.hwlint(*arguments) == 1
    assert sample.err == "test/test_inherit.py: OnlyInherited was GENERIC and has no classification any more\n"
    assert sample.out.startswith("Progress\n")


def test_max_unclassified_command(sample: Project) -> None:
    assert sample.hwlint("progress", "--no-cache", "--max-unclassified", "2") == 0
    assert sample.hwlint("progress", "--no-cache", "--max-unclassified", "1") == 1
    assert "2 classes are unclassified, 1 more than the 1 allowed" in sample.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there is no snapshot in it"),
        ("{", "is not valid JSON"),
        ("[]", "is no snapshot of hwlint progress"),
        ('{"kind": "hwlint-progress", "version": 99}', "is of version 99; this hwlint reads version 1"),
        ('{"kind": "hwlint-progress", "version": 1}', "is no whole snapshot"),
    ],
)
def test_what_is_no_snapshot(project: Project, content: str, message: str) -> None:
    project.write("s.json", content)
    assert project.hwlint("progress", "--no-regression", "s.json") == 2
    assert message in project.err
    assert project.hwlint("progress", "--no-regression", "missing.json") == 2


def test_saved_snapshots_are_a_history_without_git(sample: Project) -> None:
    save = ("progress", "--no-cache", "--format", "json", "--save", "s.jsonl")
    assert sample.hwlint(*save) == 0
    assert sample.hwlint(*save) == 0
    assert len(sample.read("s.jsonl").splitlines()) == 1  # The same again is not stored again.
    sample.tagged("test/nn/test_plain.py", "Parser")
    assert sample.hwlint(*save, "--date", "2026-09-01") == 0
    (sample.root / ".git").rename("elsewhere")
    history = ("progress", "--no-cache", "--format", "json", "--history", "--snapshots", "s.jsonl")
    assert sample.hwlint(*history, "--date", "2026-09-08T12:00:00Z") == 0
    found = json.loads(sample.out)["history"]
    points = [(p["date"], p["totals"]["classes_unclassified"]) for p in found["points"]]
    assert points == [("2026-08-22T10:00:00Z", 2), ("2026-09-01T00:00:00Z", 1), ("2026-09-08T12:00:00Z", 1)]
    assert found["estimate"]["reason"] == "the history covers 2 whole weeks; an estimate needs 6"


def test_a_snapshot_without_a_date_is_not_saved(project: Project) -> None:
    project.untagged("test_a.py")
    assert project.hwlint("progress", "--no-cache", "--save", "s.jsonl") == 2
    assert "give it a --date" in project.err
    assert project.hwlint("progress", "--no-cache", "--save", "s.jsonl", "--date", "someday") == 2
    assert project.hwlint("progress", "--no-cache", "--save", "s.jsonl", "--date", "now") == 0
