from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hwlint.cli.output import use_color, write_output
from hwlint.errors import UsageError


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("old, and longer than the new")
    path.chmod(0o640)
    write_output("näu\n", path)
    assert path.read_bytes() == "näu\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["report.txt"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_output("new", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_output("text", pipe)
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_file_that_cannot_be_written_is_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none/report.txt: cannot be written: No such file"):
        write_output("text", tmp_path / "none" / "report.txt")


@pytest.mark.parametrize(
    ("wish", "environment", "colored"),
    [
        (None, {}, False),  # standard output of a test is no terminal
        (None, {"FORCE_COLOR": "1"}, True),
        (None, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_color_is_asked_for_or_found_out(
    monkeypatch: pytest.MonkeyPatch, wish: bool | None, environment: dict[str, str], colored: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert use_color(wish, None) is colored


def test_a_file_is_never_colored_unasked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert use_color(None, tmp_path / "f") is False
