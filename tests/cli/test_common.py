from __future__ import annotations

import os
from pathlib import Path

import pytest

from hwlint.cli.common import RunOptions, expand_paths, open_project


def test_a_paths_file_stands_for_its_lines(tmp_path: Path) -> None:
    listing = tmp_path / "paths"
    listing.write_bytes(b"a.py\n\n  spaced name.py\r\n\xff.py\n")
    given = ["first.py", f"@{listing}", "./@last.py"]
    assert expand_paths(given) == ["first.py", "a.py", "  spaced name.py", os.fsdecode(b"\xff.py"), "./@last.py"]


def test_an_empty_paths_file_asks_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_a.py").write_text("")
    (tmp_path / "paths").write_text("\n")
    monkeypatch.chdir(tmp_path)
    assert open_project(RunOptions(paths=("@paths",))).discovery.paths == ()
    assert open_project(RunOptions()).discovery.paths == ("test_a.py",)


def test_the_command_line_overrides_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.hwlint]\nlevel = "upstream"\njobs = 3\nselect = ["HW1"]\n')
    monkeypatch.chdir(tmp_path)
    settings = open_project(RunOptions(level="full", cache_dir="here"), select=("HW2",), ignore=None).settings
    assert (settings.level, settings.jobs, settings.select) == ("full", 3, ("HW2",))
    assert settings.cache_dir == str(tmp_path / "here")
