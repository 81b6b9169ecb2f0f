"""Times ``hwlint check`` on a tree against ``ast.parse`` of the same files in as many processes.

usage: python tests/bench/bench.py TREE [--jobs N] [--repeat N] [--json]

TREE is a folder with Python files, such as the test/ of a PyTorch checkout. Runs are whole processes, the best of
``--repeat``; the figures that carry from one machine to another are the ratios. Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

PARSE = """
import ast, sys
for path in sys.stdin.read().split("\\0"):
    with open(path, "rb") as file:
        try:
            ast.parse(file.read())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
"""
CLEAN = """
from torch.testing._internal.common_utils import HardwareClassification, run_tests, TestCase


class SplitTest(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_words(self):
        self.assertEqual("a b".split(), ["a", "b"])


if __name__ == "__main__":
    run_tests()
"""


@dataclass(frozen=True)
class Timing:
    """The best run of one command."""

    name: str
    seconds: float
    cpu: float
    """Seconds of processor time, all processes together: what to look at on a busy machine."""
    megabytes: float
    """Peak of the largest process."""
    bar: float | None = None
    """What ``seconds`` may be at most."""
    ratio: float | None = None
    """``seconds`` against those of the floor."""
    cpu_ratio: float | None = None
    """The same of the processor time."""

    @property
    def row(self) -> str:
        ratio, cpu_ratio = (" " * 7 if r is None else f"{r:6.2f}x" for r in (self.ratio, self.cpu_ratio))
        bar = "" if self.bar is None else f"{self.bar:6.2f} s  {'ok' if self.seconds <= self.bar else 'MISSED'}"
        times = f"{self.seconds:8.3f} s {ratio} {self.cpu:8.3f} s {cpu_ratio}"
        return f"{self.name:<46}{times} {self.megabytes:6.0f} MB  {bar}".rstrip()


def best(
    name: str, commands: list[list[str]], repeat: int, inputs: Sequence[bytes] = (), fresh: Path | None = None
) -> Timing:
    """The fastest of ``repeat`` runs of the commands side by side; ``fresh``: a folder emptied before each."""
    timings = []
    for _ in range(repeat):
        for file in fresh.glob("*") if fresh is not None else ():
            file.unlink()
        timings.append(_run(name, commands, inputs or [b""] * len(commands)))
    return min(timings, key=lambda timing: timing.seconds)


def _run(name: str, commands: list[list[str]], inputs: Sequence[bytes]) -> Timing:
    # An installed hwlint has its byte code beside it, whatever the shell says of writing more.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # Each through a small parent that measures what is below it.
    parents = [
        subprocess.Popen(
            [sys.executable, __file__, "--run", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        for command in commands
    ]
    start = time.perf_counter()
    for parent, data in zip(parents, inputs):
        assert parent.stdin is not None
        parent.stdin.write(data)
        parent.stdin.close()
    measured = []
    for parent in parents:
        assert parent.stdout is not None
        measured.append([float(word) for word in parent.stdout.read().split()])
        parent.wait()
    together = time.perf_counter() - start
    for status, *_ in measured:
        if status not in (0, 1):
            raise SystemExit(f"{name}: exit status {status:.0f}: {' '.join(commands[0])}")
    _, seconds, cpu, kilobytes = zip(*measured)
    return Timing(name, together if len(commands) > 1 else seconds[0], sum(cpu), max(kilobytes) / 1024)


def run_measured(command: list[str]) -> None:
    """Run one command; print its status, seconds, processor seconds, and the size of its largest process in kB."""
    data = sys.stdin.buffer.read()
    start = time.perf_counter()
    status = subprocess.run(command, stdout=subprocess.DEVNULL, input=data).returncode
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(status, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss)


def measure(tree: Path, jobs: int, repeat: int) -> list[Timing]:
    files = sorted(tree.rglob("*.py"), key=lambda f: -f.stat().st_size)
    if not files:
        raise SystemExit(f"{tree}: no Python files")
    shares = ["\0".join(str(f) for f in files[at::jobs]).encode() for at in range(jobs)]
    python = [sys.executable]
    hwlint = [sys.executable, "-m", "hwlint"]
    floor = best(f"ast.parse of {len(files)} files, {jobs} processes", [[*python, "-c", PARSE]] * jobs, repeat, shares)
    timings = [floor]

    def add(timing: Timing, bar: float | None = None) -> None:
        if timing.name.startswith("check, tree"):
            timing = replace(timing, ratio=timing.seconds / floor.seconds, cpu_ratio=timing.cpu / floor.cpu)
        timings.append(replace(timing, bar=bar))

    with tempfile.TemporaryDirectory() as folder:
        cache, clean = Path(folder) / "cache", Path(folder) / "test_clean.py"
        cache.mkdir()
        clean.write_text(CLEAN)
        check = [*hwlint, "check", "--cache-dir", str(cache), "--format", "json"]
        add(best("check, tree, cold", [[*check, str(tree)]], repeat, fresh=cache), 1.5 * floor.seconds)
        add(best("check, tree, nothing changed", [[*check, str(tree)]], repeat), 0.15 * floor.seconds)
        add(best("check, tree, other settings, facts cached", [[*check, "--select", "HW1", str(tree)]], 1))
        uncached = [*hwlint, "check", "--no-cache"]
        add(best("check, one clean file", [[*uncached, str(clean)]], repeat), 0.25)
        middle = files[len(files) // 2]
        add(
            best(
                f"check, one of middle size ({middle.stat().st_size / 1000:.0f} kB)", [[*uncached, str(middle)]], repeat
            )
        )
        add(best("hwlint --version", [[*hwlint, "--version"]], repeat))
        add(best("python -c pass", [[*python, "-c", "pass"]], repeat))
    return timings


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        run_measured(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="machine-readable")
    options = parser.parse_args()
    timings = measure(options.tree.resolve(), options.jobs, options.repeat)
    if options.json:
        print(json.dumps([vars(timing) for timing in timings], indent=2))
    else:
        title = f"whole process, best of {options.repeat}"
        print(f"{title:<46}{'wall':>10} {'ratio':>7} {'cpu':>10} {'ratio':>7} {'memory':>9}  bar")
        for timing in timings:
            print(timing.row)
    sys.exit(any(timing.bar is not None and timing.seconds > timing.bar for timing in timings))


if __name__ == "__main__":
    main()
