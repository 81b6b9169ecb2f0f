"""Which files a run looks at, and where its root is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from hwlint.config import Settings, load_settings, read_table
from hwlint.discover import discover, find_root, printable
from hwlint.errors import UsageError
from tests.gitrepo import Repository


def make(root: Path, paths: Iterable[str]) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")


def found(root: Path, *paths: str, settings: Settings | None = None, cwd: Path | None = None) -> list[str]:
    settings = settings or Settings(root=root)
    return list(discover([Path(p) for p in paths], settings, cwd or root).paths)


def test_from_git_tracked_and_new_but_not_ignored(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit({"test/test_a.py": "", "test/gone.py": "", ".gitignore": "ignored.py\n", "readme.md": ""})
    repository.write({"test/new.py": "", "test/ignored.py": ""})
    (tmp_path / "test/gone.py").unlink()
    assert found(tmp_path) == ["test/new.py", "test/test_a.py"]


def test_an_ignored_file_that_is_named_is_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit({".gitignore": "build/\n"})
    repository.write({"build/b.py": "", "build/deep/c.py": ""})
    assert found(tmp_path, "build/b.py") == ["build/b.py"]
    assert found(tmp_path, "build") == ["build/b.py", "build/deep/c.py"]


def test_without_git_from_the_folder(tmp_path: Path) -> None:
    make(tmp_path, ["a.py", "deep/b.py", "c.txt", ".venv/d.py", "node_modules/e.py", "x/__pycache__/f.py", "env2/g.py"])
    make(tmp_path, ["env2/pyvenv.cfg"])
    assert found(tmp_path) == ["a.py", "deep/b.py"]


def test_a_loop_of_links_does_no_harm(tmp_path: Path) -> None:
    make(tmp_path, ["a/b.py"])
    (tmp_path / "a/loop").symlink_to("..", target_is_directory=True)
    (tmp_path / "self.py").symlink_to("self.py")
    assert found(tmp_path) == ["a/b.py", "self.py"]


def test_from_a_folder_below_the_root_only_what_is_there(tmp_path: Path) -> None:
    Repository(tmp_path).commit({"a.py": "", "test/b.py": ""})
    assert found(tmp_path, cwd=tmp_path / "test") == ["test/b.py"]
    assert found(tmp_path, "b.py", cwd=tmp_path / "test") == ["test/b.py"]
    assert found(tmp_path, "..", cwd=tmp_path / "test") == ["a.py", "test/b.py"]


def test_the_configured_include_and_exclude(tmp_path: Path) -> None:
    make(tmp_path, ["test/a.py", "lib/test/b.py", "test/cpp/c.py", "d.py"])
    settings = Settings(root=tmp_path, include=("test",), exclude=("cpp",))
    assert found(tmp_path, settings=settings) == ["test/a.py"]
    assert found(tmp_path, ".", settings=settings) == ["d.py", "lib/test/b.py", "test/a.py"]


def test_a_named_file_is_read_in_spite_of_exclude_unless_forced(tmp_path: Path) -> None:
    make(tmp_path, ["cpp/c.py", "script"])
    settings = Settings(root=tmp_path, exclude=("cpp",))
    assert found(tmp_path, "cpp/c.py", "script", settings=settings) == ["cpp/c.py", "script"]
    forced = Settings(root=tmp_path, exclude=("cpp",), force_exclude=True)
    assert found(tmp_path, "cpp/c.py", "script", settings=forced) == ["script"]


def test_a_file_named_twice_is_there_once(tmp_path: Path) -> None:
    make(tmp_path, ["a/b.py"])
    assert found(tmp_path, "a/b.py", "./a/../a/b.py", "a") == ["a/b.py"]


@pytest.mark.parametrize("name, words", [("none.py", "no such file or folder"), ("loop.py", "cannot be read")])
def test_a_named_path_that_is_not_to_be_had(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "loop.py").symlink_to("loop.py")
    with pytest.raises(UsageError, match=f"^{name}: {words}"):
        found(tmp_path, name)


def test_an_unreadable_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, ["a/b.py", "closed/c.py"])
    scandir = os.scandir

    def refuse(path: str) -> object:
        if os.path.basename(path) == "closed":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    discovery = discover([], Settings(root=tmp_path), tmp_path)
    assert discovery.paths == ("a/b.py",)
    assert discovery.notes == ("closed: the folder cannot be read: Permission denied",)


def test_a_git_that_fails_is_told_and_the_folder_used(tmp_path: Path) -> None:
    make(tmp_path, ["a.py"])
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    discovery = discover([], Settings(root=tmp_path), tmp_path)
    assert discovery.paths == ("a.py",)
    assert len(discovery.notes) == 1
    assert "files are taken from the folder instead" in discovery.notes[0]


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    Repository(tmp_path).write({name: ""})
    assert found(tmp_path) == [name]
    assert printable(name) == "caf\\xe9.py"
    assert printable("café.py") == "café.py"


def test_the_root_is_where_the_configuration_is(tmp_path: Path) -> None:
    Repository(tmp_path).write({"sub/pyproject.toml": "[tool.hwlint]\n", "sub/test/a.py": "", "b.py": ""})
    read_table.cache_clear()
    assert find_root([Path("sub/test/a.py")], tmp_path) == tmp_path / "sub"
    assert find_root([Path("sub/test/a.py"), Path("b.py")], tmp_path) == tmp_path
    assert find_root([], tmp_path / "sub/test") == tmp_path / "sub"
    assert load_settings(tmp_path / "sub").source == tmp_path / "sub/pyproject.toml"


def test_the_search_ends_at_the_repository(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.hwlint]\n")
    Repository(tmp_path / "inner").write({"test/a.py": ""})
    read_table.cache_clear()
    assert find_root([], tmp_path / "inner/test") == tmp_path / "inner"


def test_without_either_the_root_is_the_current_folder_or_what_the_paths_share(tmp_path: Path) -> None:
    make(tmp_path, ["here/x.py", "there/a/b.py", "there/c/d.py"])
    assert find_root([Path("x.py")], tmp_path / "here") == tmp_path / "here"
    assert find_root([Path("../there/a/b.py"), Path("../there/c")], tmp_path / "here") == tmp_path / "there"


def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "getcwd", gone)
    with pytest.raises(UsageError, match="^the current folder is not there any more$"):
        find_root()


def test_a_source_archive_without_git_is_known_by_its_lintrunner_file_or_its_test_folder(tmp_path: Path) -> None:
    make(tmp_path, ["here/x.py", "tree/test/nn/test_a.py", "tree/test/test_b.py"])
    assert find_root([Path("../tree/test")], tmp_path / "here") == tmp_path / "tree"
    assert find_root([Path("../tree/test/nn/test_a.py")], tmp_path / "here") == tmp_path / "tree/test/nn"
    make(tmp_path, ["tree/.lintrunner.toml"])
    assert find_root([Path("../tree/test/nn/test_a.py")], tmp_path / "here") == tmp_path / "tree"
