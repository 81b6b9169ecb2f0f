"""What differs on a terminal: colour, a summary of a clean run, and nothing of it on a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.project import Project

SOURCE = Path(__file__).resolve().parents[2]
pty = pytest.importorskip("pty")


def on_terminal(project: Project, *arguments: str, **variables: str) -> str:
    """All that a run prints on a terminal."""
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"PYTHONPATH": str(SOURCE), "TERM": "xterm-256color", **variables}
    command = [sys.executable, "-m", "hwlint", *arguments]
    with subprocess.Popen(
        command, cwd=project.root, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        printed = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux says so when the other end is closed.
                break
            if not part:
                break
            printed += part
        process.wait(60)
    os.close(ours)
    return printed.decode().replace("\r\n", "\n")


def test_findings_are_colored(project: Project) -> None:
    project.untagged("test_a.py")
    assert "\x1b[1;31merror\x1b[0m" in on_terminal(project, "check")


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_unless_the_user_says_no(project: Project, variables: dict[str, str]) -> None:
    project.untagged("test_a.py")
    printed = on_terminal(project, "check", **variables)
    assert "error HW101" in printed
    assert "\x1b" not in printed


def test_a_clean_run_says_so(project: Project) -> None:
    project.tagged("test_a.py")
    assert on_terminal(project, "check", NO_COLOR="1") == "no findings in 1 file\n"
    assert on_terminal(project, "check", "--quiet", NO_COLOR="1") == ""
