"""What a change adds, on real repositories with a toy check: one finding a line that says 'bad WORD'."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from hwlint.baseline import Compared
from hwlint.config import Settings
from hwlint.discover import Discovery, discover
from hwlint.findings import Finding, Severity
from hwlint.git import GitError
from hwlint.scan.facts import Span
from hwlint.since import Since, compare_states, read_change
from tests.gitrepo import Repository

FILLER = "".join(f"line {n}\n" for n in range(30))


def check(discovery: Discovery, overlay: Mapping[str, bytes | None]) -> list[Finding]:
    found = []
    for path in discovery.paths:
        data = overlay[path] if path in overlay else (discovery.root / path).read_bytes()
        assert data is not None, f"{path} is asked for and not there"
        for number, line in enumerate(data.decode().splitlines(), start=1):
            if line.startswith("bad "):
                found.append(Finding("HW201", path, Span(number, 0, number, 1), Severity.ERROR, line, symbol=line[4:]))
    return found


def compared_since(discovery: Discovery, since: Since) -> Compared:
    """Both states checked as ``hwlint check --since`` does."""
    now = check(since.discovery_now(discovery), since.now)
    before = check(since.discovery_before(discovery), since.before)
    return compare_states(now, before, since)


def new(repository: Repository, revision: str = "HEAD", staged: bool = False, paths: tuple[str, ...] = ()) -> list[str]:
    root = repository.root
    discovery = discover([Path(p) for p in paths], Settings(root=root), root)
    compared = compared_since(discovery, read_change(root, revision, staged=staged))
    return [f"{f.path}:{f.span.line} {f.symbol}" for f in compared.new]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.commit({"a.py": "bad one\nbad two\n" + FILLER, "b.py": "bad three\n" + FILLER})
    return made


def test_an_unchanged_tree_has_nothing_new(repository: Repository) -> None:
    assert new(repository) == []


def test_what_is_added_is_new_and_what_moved_in_the_file_is_not(repository: Repository) -> None:
    repository.write({"a.py": "\n\nbad two\n" + FILLER + "bad one\nbad four\n"})
    assert new(repository) == ["a.py:35 four"]


def test_one_more_of_the_same_is_the_added_line(repository: Repository) -> None:
    repository.write({"a.py": "bad two\nbad one\nbad two\n" + FILLER})
    assert new(repository) == ["a.py:1 two"]


def test_a_renamed_file_keeps_its_findings(repository: Repository) -> None:
    repository.git("mv", "a.py", "c.py")
    repository.write({"c.py": "bad five\nbad one\nbad two\n" + FILLER})
    assert new(repository) == ["c.py:1 five"]
    repository.commit()
    assert new(repository, "HEAD~1") == ["c.py:1 five"]


def test_an_untracked_file_is_all_new(repository: Repository) -> None:
    repository.write({"c.py": "bad six\n"})
    assert new(repository) == ["c.py:1 six"]


def test_what_moved_to_another_file_is_not_new(repository: Repository) -> None:
    repository.write({"a.py": "bad one\n" + FILLER, "c.py": "bad two\nbad seven\n"})
    assert new(repository) == ["c.py:2 seven"]
    (repository.root / "a.py").unlink()
    repository.write({"c.py": "bad one\nbad two\nbad one\n"})
    assert new(repository) == ["c.py:3 one"]


def test_the_branch_is_compared_with_where_it_left(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "branch")
    repository.commit({"b.py": "bad three\nbad eight\n" + FILLER})
    repository.git("checkout", "-q", "main")
    repository.commit({"a.py": FILLER, "b.py": FILLER})
    repository.git("checkout", "-q", "branch")
    assert new(repository, "main") == ["b.py:2 eight"]


def test_only_named_files_are_looked_at(repository: Repository) -> None:
    repository.write({"a.py": "bad nine\n", "b.py": "bad ten\n"})
    assert new(repository, paths=("b.py",)) == ["b.py:1 ten"]


def test_staged_is_what_would_be_committed(repository: Repository) -> None:
    repository.write({"a.py": "bad one\nbad two\nbad staged\n" + FILLER, "added.py": "bad added\n"})
    repository.git("add", "a.py", "added.py")
    repository.write({"a.py": "bad one\n", "b.py": "bad worktree\n", "untracked.py": "bad untracked\n", "added.py": ""})
    assert new(repository, staged=True) == ["a.py:3 staged", "added.py:1 added"]


def test_staged_in_a_repository_without_a_commit(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write({"a.py": "bad one\n", "b.py": "bad two\n"})
    repository.git("add", "a.py")
    assert new(repository, staged=True) == ["a.py:1 one"]


def test_below_the_top_of_the_repository(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit({"sub/a.py": "bad one\n", "b.py": ""})
    repository.write({"sub/a.py": "bad one\nbad two\n", "sub/c.py": "bad three\n", "b.py": "bad four\n"})
    sub = tmp_path / "sub"
    discovery = discover([], Settings(root=sub), sub)
    compared = compared_since(discovery, read_change(sub, "HEAD"))
    assert [(f.path, f.symbol) for f in compared.new] == [("a.py", "two"), ("c.py", "three")]


def test_a_revision_that_is_not_there(repository: Repository) -> None:
    with pytest.raises(GitError, match="^there is no revision 'nowhere' here$"):
        new(repository, "nowhere")
