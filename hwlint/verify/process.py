"""Runs one command in a process group of its own, under a time and a memory limit, and says how it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.1
TAIL_BYTES = 20000
TAIL_LINES = 12
_DUMP_HEADS = ("(most recent call first):",)  # how faulthandler heads a stack


@dataclass(frozen=True, slots=True)
class Limits:
    """``timeout`` in seconds; ``memory`` in megabytes for the whole process group, 0 for none."""

    timeout: float
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended. ``status`` is as in ``subprocess``: negative for a signal."""

    status: int
    timed_out: bool
    over_memory: bool
    tail: str


def run_in_group(
    command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: Path, limits: Limits
) -> Exit:
    """Run ``command`` in its own session, output to a file, and end its process group when it is over.

    The group holds what the command started and nothing else. It is ended while the leader is still unreaped, so its
    number cannot belong to another group by then.
    """
    with output.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=cwd, env=dict(environment), stdin=subprocess.DEVNULL, stdout=stream,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        timed_out = over_memory = False
        try:
            deadline = time.monotonic() + limits.timeout
            while not _has_ended(process.pid):
                if time.monotonic() > deadline:
                    timed_out = True
                    _ask_where_it_hangs(process.pid)
                    break
                if limits.memory and group_memory(process.pid) > limits.memory:
                    over_memory = True
                    break
                time.sleep(POLL_SECONDS)
        finally:
            _end_group(process.pid)
            status = process.wait()
    return Exit(status, timed_out, over_memory, read_tail(output))


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _ask_where_it_hangs(pid: int) -> None:
    # The runner answers with its Python stack, which is then the tail of the output.
    os.kill(pid, signal.SIGUSR1)
    time.sleep(0.5)


def _end_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS says the second of a group that has only zombies left
        pass


def group_memory(group: int) -> int:
    """Resident megabytes of all processes of a group, from ``/proc``; 0 on a system without it."""
    pages = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in parentheses, may hold spaces; the fields after it are state, parent, group, ...
            if int(entry.read_text().rpartition(")")[2].split()[2]) == group:
                pages += int((entry.parent / "statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") // (1024 * 1024) if pages else 0


def read_tail(path: Path) -> str:
    """The end of what a process wrote: of a stack that Python dumped the innermost calls, else the last lines."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - TAIL_BYTES))
        lines = stream.read().decode("utf-8", "replace").splitlines()
    dumps = [number for number, line in enumerate(lines) if line.endswith(_DUMP_HEADS)]
    return "\n".join(lines[dumps[-1] :][:TAIL_LINES] if dumps else lines[-TAIL_LINES:])


def default_memory_limit(jobs: int) -> int:
    """Four fifths of the machine's memory, shared by ``jobs`` runs, in megabytes; 0 where the system does not say."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
    return total * 4 // 5 // jobs // (1024 * 1024)
