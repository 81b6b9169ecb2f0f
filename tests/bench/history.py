"""Times ``hwlint progress --history`` that was looked at before against a cold ``hwlint check`` of the same files.

usage: python -m tests.bench.history    (from the top of the repository)

The suite and its 200 commits are invented. Prints processor seconds and their ratio; exits with 1 where the bar is
missed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.progress.invented import long_history

ROOT = Path(__file__).parents[2]
BAR = 2.0


def seconds(folder: Path, *arguments: str) -> float:
    """Processor time of one run of hwlint, its own processes included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "hwlint", *arguments, "-o", os.devnull]
    done = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": os.defpath}, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"hwlint {arguments[0]}: exit status {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    with tempfile.TemporaryDirectory() as work:
        folder = long_history(Path(work) / "suite", files=800, commits=200).root
        cache = str(Path(work) / "cache")
        history = ("progress", "--history", "--every", "1", "--format", "json", "--cache-dir", cache)
        first = seconds(folder, *history)
        check = min(seconds(folder, "check", "--no-cache", "--quiet") for _ in range(2))
        again = min(seconds(folder, *history) for _ in range(2))
    print(f"check, cold               {check:6.2f} s")
    print(f"history of 200 commits    {first:6.2f} s  {first / check:5.2f}x")
    print(f"the same again            {again:6.2f} s  {again / check:5.2f}x  bar {BAR:.1f}x")
    return int(again > BAR * check)


if __name__ == "__main__":
    sys.exit(main())
