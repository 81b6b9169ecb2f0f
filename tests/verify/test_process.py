from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from hwlint.verify.process import Exit, Limits, default_memory_limit, read_tail, run_in_group


def run(code: str, folder: Path, *, timeout: float = 20, memory: int = 0) -> Exit:
    return run_in_group(
        [sys.executable, "-c", code], cwd=folder, environment=os.environ, output=folder / "output.txt",
        limits=Limits(timeout, memory),
    )  # fmt: skip


def test_status_and_output(tmp_path: Path) -> None:
    end = run("import sys; print('said'); sys.exit(3)", tmp_path)
    assert (end.status, end.timed_out, end.over_memory, end.tail) == (3, False, False, "said")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("ending", ["time.sleep(60)", "pass"])
def test_children_are_ended_with_the_run(tmp_path: Path, ending: str) -> None:
    bystander = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "30")
    try:
        code = (
            "import subprocess, sys, time\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
            f"open('child', 'w').write(str(child.pid))\n{ending}"
        )
        end = run(code, tmp_path, timeout=3)
        assert end.timed_out == (ending != "pass")
        child = int((tmp_path / "child").read_text())
        deadline = time.monotonic() + 5
        while is_alive(child) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not is_alive(child)
        assert is_alive(bystander)
    finally:
        os.kill(bystander, 9)
        os.waitpid(bystander, 0)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_limit(tmp_path: Path) -> None:
    code = "import time\nheld = []\nwhile True: held.append(bytearray(b'x') * 5_000_000); time.sleep(0.01)"
    end = run(code, tmp_path, memory=200)
    assert end.over_memory and not end.timed_out


def test_tail_starts_at_a_dumped_stack(tmp_path: Path) -> None:
    output = tmp_path / "output.txt"
    output.write_text("noise\nCurrent thread 0x1 (most recent call first):\n  File a\n  File b\n")
    assert read_tail(output).splitlines() == ["Current thread 0x1 (most recent call first):", "  File a", "  File b"]


def test_default_memory_limit_is_shared() -> None:
    assert default_memory_limit(2) == pytest.approx(default_memory_limit(1) / 2, abs=1)
