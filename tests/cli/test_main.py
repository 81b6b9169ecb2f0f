"""The command line as a whole: what it lists, how it fails, what it costs to start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hwlint
from hwlint.cli import COMMANDS, run


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"hwlint {hwlint.__version__}\n"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert [name for name in COMMANDS if f"\n  {name} " in out] == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_page(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert f"Usage: hwlint {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek"], "No such command 'chek'"),
        (["check", "--formt", "json"], "No such option"),
        (["check", "--format", "xml"], "'xml' is not one of"),
        (["check", "nowhere.py"], "nowhere.py: no such file or folder"),
        (["check", "@nowhere.txt"], "nowhere.txt: cannot be read: No such file"),
        (["check", "--select", "HW999"], "no rule 'HW999'"),
        (["rule", "HW1O1"], "no rule 'HW1O1'; did you mean HW101?"),
    ],
)
def test_what_cannot_be_done_is_status_2_and_says_why(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_broken_configuration_is_status_2_and_names_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.hwlint]\nlevl = "full"\n')
    monkeypatch.chdir(tmp_path)
    assert run(["check"]) == 2
    assert "no key 'levl'; did you mean 'level'?" in capsys.readouterr().err


def test_an_internal_error_is_status_3(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> None:
        raise KeyError("no such thing")

    monkeypatch.setattr("hwlint.cli.rule.all_rules", broken)
    assert run(["rule"]) == 3
    err = capsys.readouterr().err
    assert "KeyError: 'no such thing'" in err
    assert f"internal error in hwlint {hwlint.__version__}" in err


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    script = f"{sys.executable} -m hwlint rule --format markdown | head -n 1"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("## HW001")
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", ["--version", "check clean.py", "check clean.py --format concise"])
def test_starting_up_imports_only_what_the_run_needs(tmp_path: Path, arguments: str) -> None:
    (tmp_path / "clean.py").write_text("x = 1\n")
    script = (
        "import sys; from hwlint.cli import run; run(sys.argv[1:]);"
        "print(*[m for m in ('libcst', 'rich', 'multiprocessing', 'json', 'asyncio', 'torch') if m in sys.modules])"
    )
    command = [sys.executable, "-c", script, *arguments.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""
