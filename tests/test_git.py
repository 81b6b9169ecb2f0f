"""The git wrapper against real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hwlint.git import EMPTY_TREE, Change, Git, GitError, find_top
from tests.gitrepo import Repository

LONG = "".join(f"line {n}\n" for n in range(40))


def test_changes_with_renames_and_odd_names(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    odd = os.fsdecode(b"a b\xe9\n.py")
    base = repository.commit({"same.py": LONG, "old.py": LONG.upper(), "gone.py": "x", "edit.py": "1\n", odd: "2\n"})
    repository.git("mv", "old.py", "new.py")
    repository.git("rm", "-q", "gone.py")
    repository.write({"edit.py": "2\n", "added.py": "3\n", odd: "4\n", "untracked.py": ""})
    repository.git("add", "added.py")
    git = Git(tmp_path)
    changes = {(c.old, c.new) for c in git.changes(base)}
    assert changes == {("old.py", "new.py"), ("gone.py", ""), ("edit.py", "edit.py"), ("", "added.py"), (odd, odd)}
    assert git.untracked() == ["untracked.py"]


def test_paths_are_relative_to_the_folder(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    base = repository.commit({"sub/a.py": "1\n", "b.py": "1\n"})
    repository.write({"sub/a.py": "2\n", "b.py": "2\n", "sub/new.py": ""})
    git = Git(tmp_path / "sub")
    assert git.changes(base) == [Change("a.py", "a.py")]
    assert sorted(git.list_files()) == ["a.py", "new.py"]
    assert list(git.read_blobs([f"{base}:./a.py"])) == [b"1\n"]
    assert sorted(git.is_dirty(["a.py", "new.py"])) == ["a.py", "new.py"]
    assert git.added_lines(base, ["a.py"]) == {"a.py": [(1, 1)]}


def test_staged_is_the_index_not_the_files(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit({"a.py": "1\n", "b.py": "1\n"})
    repository.write({"a.py": "2\n"})
    repository.git("add", "a.py")
    repository.write({"a.py": "3\n", "b.py": "3\n"})
    git = Git(tmp_path)
    assert git.changes("HEAD", staged=True) == [Change("a.py", "a.py")]
    assert sorted(git.unstaged()) == ["a.py", "b.py"]
    assert list(git.read_blobs([":./a.py", ":./b.py", ":./none.py"])) == [b"2\n", b"1\n", None]


def test_blobs_in_one_batch(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    base = repository.commit({"a.py": b"\0\n\xff", "sub/b.py": "", "with space.py": "x"})
    names = [f"{base}:a.py", f"{base}:none", f"{base}:sub", f"{base}:sub/b.py", f"{base}:with space.py", f"{base}:a\nb"]
    assert list(Git(tmp_path).read_blobs(names)) == [b"\0\n\xff", None, None, b"", b"x", None]


def test_files_at_a_revision(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    (tmp_path / "link.py").symlink_to("a.py")
    first = repository.commit({"a.py": "1\n", "sub/b.py": "2\n"})
    repository.commit({"c.py": ""})
    git = Git(tmp_path)
    at_first = git.files_at(first)
    assert sorted(at_first) == ["a.py", "sub/b.py"]
    assert list(git.read_blobs([at_first["sub/b.py"]])) == [b"2\n"]


def test_added_lines_follow_a_rename_and_are_not_fooled_by_content(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    base = repository.commit({"old.py": LONG})
    repository.git("mv", "old.py", "new.py")
    repository.write({"new.py": "++ b/other.py\n" + LONG.replace("line 20\n", "line 20\n@@ -1 +1 @@\n-- x\n")})
    assert Git(tmp_path).added_lines(base, ["old.py", "new.py"]) == {"new.py": [(1, 1), (23, 24)]}


def test_revisions(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    git = Git(tmp_path)
    assert git.head() == EMPTY_TREE
    first = repository.commit({"a.py": ""})
    repository.git("checkout", "-q", "-b", "branch")
    second = repository.commit({"b.py": ""})
    repository.git("checkout", "-q", "main")
    third = repository.commit({"c.py": ""})
    assert git.head() == git.resolve("main") == third
    assert git.merge_base("branch") == first
    assert git.resolve("branch") == second
    for revision in ("none", "--all", "HEAD:a.py"):
        with pytest.raises(GitError):
            git.resolve(revision)


def test_a_revision_that_history_does_not_reach_stands_for_itself(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    first = repository.commit({"a.py": ""})
    repository.git("checkout", "-q", "--orphan", "other")
    repository.commit({"a.py": "1"})
    assert Git(tmp_path).merge_base("main") == first


def test_outside_of_a_repository(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="^git rev-parse: not a git repository"):
        Git(tmp_path).resolve("HEAD")
    assert find_top(tmp_path) is None


def test_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="^git cannot be run: "):
        Git(tmp_path).list_files()


def test_nothing_asked_nothing_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    git = Git(tmp_path)
    assert list(git.read_blobs([])) == []
    assert git.added_lines("HEAD", []) == {}
    assert git.is_dirty([]) == []


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit({"[a].py": "1\n", "a.py": "1\n"})
    repository.write({"[a].py": "2\n", "a.py": "2\n"})
    assert Git(tmp_path).is_dirty(["[a].py"]) == ["[a].py"]


def test_clean_and_dirty(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit({"a.py": "1\n", "b.py": "1\n"})
    repository.write({"b.py": "2\n", "c.py": ""})
    assert Git(tmp_path).is_dirty(["a.py", "b.py", "c.py"]) == ["b.py", "c.py"]
