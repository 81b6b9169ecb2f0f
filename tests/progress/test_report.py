"""``hwlint progress`` on a sample with one of everything."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import hwlint.progress
from tests.cli.project import Project
from tests.progress.counting import count
from tests.progress.sample import FILES, write_sample

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = Path(hwlint.progress.__file__).with_name("progress.schema.json")


@pytest.fixture
def sample(project: Project) -> Project:
    write_sample(project.root)
    return project


def document(project: Project, *arguments: str) -> dict[str, Any]:
    status = project.hwlint("progress", "--format", "json", "--no-cache", *arguments)
    assert status == 0, project.err
    found: dict[str, Any] = json.loads(project.out)
    return found


def by_path(found: dict[str, Any]) -> dict[str, Any]:
    return {file["path"].removeprefix("test/"): file for file in found["files"]}


@pytest.mark.parametrize("name", ["text", "markdown", "csv"])
def test_golden(sample: Project, name: str) -> None:
    assert sample.hwlint("progress", "--format", name, "--no-cache") == 0, sample.err
    assert sample.out == (GOLDEN / f"sample.{name}").read_text(encoding="utf-8")


def test_totals_equal_a_count_made_another_way(sample: Project) -> None:
    (sample.root / "test" / "test_broken.py").unlink()
    found, counted = document(sample, "test"), count(sample.root / "test")
    classes = [cls for file in found["files"] for cls in file["classes"]]
    assert found["totals"]["files"] == counted.files
    assert sum(cls["tests"] > 0 for cls in classes) == counted.classes_with_tests
    assert found["totals"]["tests"] == sum(cls["tests"] for cls in classes) == counted.tests
    tagged = Counter(cls["label"] for cls in classes if cls["label"] and cls["tests"] and not cls["inherited"])
    assert tagged == counted.tagged


@pytest.mark.corpus
def test_totals_of_the_corpus_equal_a_count_made_another_way(project: Project, corpus: Path) -> None:
    found, counted = document(project, str(corpus / "test")), count(corpus / "test")
    classes = [cls for file in found["files"] for cls in file["classes"]]
    assert found["totals"]["files"] == counted.files
    assert sum(cls["tests"] > 0 for cls in classes) == counted.classes_with_tests
    assert found["totals"]["tests"] == counted.tests


def test_direct_and_inherited_labels_are_told_apart(sample: Project) -> None:
    files = by_path(document(sample))
    inheriting = files["test_inherit.py"]["classes"][0]
    assert (inheriting["label"], inheriting["inherited"]) == ("GENERIC", True)
    assert (inheriting["tests"], inheriting["inherited_tests"]) == (0, 1)
    direct = {cls["name"]: cls for cls in files["test_done.py"]["classes"]}["Inheriting"]
    assert (direct["label"], direct["inherited"]) == ("GENERIC", False)
    assert (direct["tests"], direct["inherited_tests"]) == (1, 1)


def test_states_and_next_steps(sample: Project) -> None:
    found = {path: (file["state"], file["step"]) for path, file in by_path(document(sample)).items()}
    assert found["test_broken.py"][0] == "broken"
    assert found["test_done.py"] == (
        "done",
        {"kind": "unlist", "command": "hwlint allowlist --update", "reasons": []},
    )
    assert found["nn/test_plain.py"] == (
        "open",
        {"kind": "migrate", "command": "hwlint migrate test/nn/test_plain.py", "reasons": []},
    )
    state, step = found["test_mixed.py"]
    assert (state, step["kind"]) == ("partial", "migrate-partly")
    assert step["reasons"] == ["Mixed: its tests belong to several labels (GENERIC, CUDA)"]
    assert found["test_inherit.py"] == ("done", {"kind": "done", "command": "", "reasons": []})


def test_what_binds_a_tagged_class(sample: Project) -> None:
    found = document(sample)
    file = by_path(found)["test_bound.py"]
    assert file["state"] == "bound" and file["step"]["kind"] == "unbind"
    assert {one["code"] for one in file["classes"][0]["bound"]} == {"HW201", "HW401"}
    assert found["totals"]["classes_bound"] == 1
    assert found["constructs"] == file["classes"][0]["bound"]


def test_stale_entries(sample: Project) -> None:
    allowlist = document(sample)["allowlist"]
    assert allowlist == {
        "path": "lists/open.json",
        "entries": 4,
        "stale": [{"path": "test/test_done.py", "why": "clean"}, {"path": "test/test_gone.py", "why": "missing"}],
    }


def test_a_report_on_part_of_the_tree_does_not_call_the_rest_missing(sample: Project) -> None:
    stale = document(sample, "test/nn")["allowlist"]["stale"]
    assert stale == [{"path": "test/test_gone.py", "why": "missing"}]


def test_cheapest_first(sample: Project) -> None:
    assert document(sample)["cheapest"] == ["test/test_done.py", "test/nn/test_plain.py", "test/test_mixed.py"]


def test_owners(sample: Project) -> None:
    found = document(sample)
    assert {name: row["files"] for name, row in found["owners"].items()} == {
        "(none)": 3,
        "module: nn": 2,
        "module: sorting": 2,
    }
    assert {name: row["files"] for name, row in found["code_owners"].items()} == {"@nn": 1, "@testers": 6}


def test_folders_by_depth(sample: Project) -> None:
    assert set(document(sample)["folders"]) == {"test"}
    assert set(document(sample, "--depth", "2")["folders"]) == {"test", "test/nn"}
    assert set(document(sample, "--depth", "0")["folders"]) == {"."}


def test_configured_groups(sample: Project) -> None:
    sample.write("pyproject.toml", '[tool.hwlint.progress.groups]\nlayers = ["nn"]\n')
    found = document(sample)
    assert {name: row["files"] for name, row in found["groups"].items()} == {"layers": 1, "other": 5}


def test_json_follows_its_schema(sample: Project) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    found = document(sample, "--history", "--every", "1")
    jsonschema.validate(found, schema)
    assert found["history"]["points"][-1]["totals"]["classes_unclassified"] == found["totals"]["classes_unclassified"]
    del found["files"][0]["step"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema)


def test_says_what_it_is_of(sample: Project) -> None:
    found = document(sample, "test")
    head = sample_head(sample)
    assert (found["revision"], found["date"], found["modified"]) == (head, "2026-08-22T10:00:00Z", False)
    assert found["paths"] == ["test"]
    assert found["settings"]["allowlist"] == "lists/open.json"


def sample_head(project: Project) -> str:
    from tests.gitrepo import Repository

    return Repository(project.root).git("rev-parse", "HEAD").strip()


def test_says_that_files_differ_from_the_commit(sample: Project) -> None:
    sample.tagged("test/nn/test_plain.py")
    assert document(sample)["modified"] is True
    assert document(sample, "test/test_done.py")["modified"] is False
    assert document(sample, "--rev", "HEAD")["modified"] is False


def test_a_new_file_differs_from_the_commit(sample: Project) -> None:
    sample.untagged("test/test_new.py")
    assert document(sample)["modified"] is True


def test_a_revision_is_looked_at_as_it_was(sample: Project) -> None:
    at_head = document(sample)
    sample.tagged("test/nn/test_plain.py")
    (sample.root / "test/shared_cases.py").unlink()
    assert document(sample)["files"] != at_head["files"]
    assert document(sample, "--rev", "HEAD") == at_head


def test_unknown_revision(sample: Project) -> None:
    assert sample.hwlint("progress", "--rev", "nowhere") == 2
    assert "there is no revision 'nowhere' here" in sample.err


def test_no_git_at_all(project: Project) -> None:
    for path, text in FILES.items():
        project.write(path, text)
    found = document(project)
    assert (found["revision"], found["date"], found["modified"]) == ("", "", False)
    assert found["code_owners"]["@nn"]["files"] == 1
    assert document(project, "--date", "2026-08-22")["date"] == "2026-08-22T00:00:00Z"


@pytest.mark.parametrize("name", ["text", "markdown", "csv", "json", "html"])
def test_the_same_input_gives_the_same_bytes(sample: Project, name: str) -> None:
    if name == "html":
        pytest.importorskip("pygal")
    arguments = ("progress", "--format", name, "--history", "--every", "1", "--cache-dir", "cache")
    outputs = []
    for _ in range(2):
        assert sample.hwlint(*arguments) == 0, sample.err
        outputs.append(sample.out)
    assert sample.hwlint(*arguments[:-2], "--no-cache", "--jobs", "1") == 0
    assert outputs == [sample.out, sample.out]


def test_an_empty_folder(project: Project) -> None:
    found = document(project)
    assert found["totals"]["classes"] == 0 and found["files"] == []
    assert project.hwlint("progress") == 0 and "0 test files" in project.out


def test_markdown_fits_a_comment(project: Project) -> None:
    for at in range(800):
        project.untagged(f"test/a_rather_long_folder_name_{at % 90}/test_with_a_long_name_{at}.py")
    assert project.hwlint("progress", "--format", "markdown", "--rows", "0", "--no-cache") == 0
    assert 20_000 < len(project.out) < 65_536


def test_csv_of_a_history_has_its_points(sample: Project) -> None:
    assert sample.hwlint("progress", "--format", "csv", "--history", "--no-cache") == 0
    header, *rows = sample.out.splitlines()
    assert header.startswith("date,revision,files,classes,tests,GENERIC,")
    assert len(rows) == 1 and rows[0].startswith("2026-08-22T10:00:00Z,")


def test_html_says_what_to_install(sample: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert sample.hwlint("progress", "--no-cache", "--format", "html") == 2
    assert "pip install 'hwlint[report]'" in sample.err


def test_colour_only_where_asked(sample: Project) -> None:
    assert sample.hwlint("progress", "--no-cache") == 0 and "\x1b[" not in sample.out
    assert sample.hwlint("progress", "--no-cache", "--color") == 0 and "\x1b[" in sample.out
