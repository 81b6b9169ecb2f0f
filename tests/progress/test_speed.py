"""A history that was looked at before costs little more than a look at the files."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from tests.progress.invented import long_history

ROOT = Path(__file__).parents[2]


def seconds(folder: Path, *arguments: str) -> float:
    """Processor time of one run of hwlint, its own processes included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "hwlint", *arguments, "-o", "/dev/null"]
    done = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, check=False)
    assert done.returncode in (0, 1)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_warm_history_of_200_commits_is_within_twice_a_cold_check(tmp_path: Path) -> None:
    folder = long_history(tmp_path / "suite", files=800, commits=200).root
    history = ("progress", "--history", "--every", "1", "--format", "json", "--cache-dir", str(tmp_path / "cache"))
    seconds(folder, *history)
    cold_check = min(seconds(folder, "check", "--no-cache", "--quiet") for _ in range(2))
    warm_history = min(seconds(folder, *history) for _ in range(2))
    assert warm_history <= 2 * cold_check, (warm_history, cold_check)
