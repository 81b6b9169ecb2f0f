"""Processes over tasks: all results come, and a process that dies costs one of them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from hwlint.workers import Died, run_in_processes


def double(task: str) -> bytes:
    """Twice the task; 'kill', 'exit' and 'once FILE' end the process."""
    verb, _, rest = task.partition(" ")
    if verb == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if verb == "exit":
        os._exit(7)
    if verb == "once" and not Path(rest).exists():
        Path(rest).write_text("")
        os._exit(1)
    return (task * 2).encode()


def run(tasks: list[str], sizes: list[int] | None = None, jobs: int = 2) -> dict[int, bytes | Died]:
    results = list(run_in_processes(double, tasks, sizes or [10] * len(tasks), jobs))
    assert len(results) == len({index for index, _ in results}), "a result came twice"
    return dict(results)


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 3, 250])
def test_every_task_has_its_result(jobs: int, count: int) -> None:
    tasks = [str(n) for n in range(count)]
    sizes = [n * 997 % 50_000 for n in range(count)]
    assert run(tasks, sizes, jobs) == {n: str(n).encode() * 2 for n in range(count)}


@pytest.mark.parametrize("at", [0, 7, 59])
def test_one_that_dies_costs_one_task(at: int) -> None:
    tasks = [str(n) for n in range(60)]
    tasks[at] = "kill"
    results = run(tasks)
    assert results.pop(at) == Died(-9)
    assert results == {n: str(n).encode() * 2 for n in range(60) if n != at}


def test_many_that_die() -> None:
    tasks = ["exit" if n % 5 == 0 else str(n) for n in range(30)]
    sizes = [60_000] * 30
    results = run(tasks, sizes)
    assert {n: r for n, r in results.items() if isinstance(r, Died)} == {n: Died(7) for n in range(0, 30, 5)}
    assert len(results) == 30


def test_one_that_died_for_another_reason_is_tried_again(tmp_path: Path) -> None:
    tasks = ["a", f"once {tmp_path / 'mark'}", "b"]
    assert run(tasks) == {n: (t * 2).encode() for n, t in enumerate(tasks)}


def test_how_it_ended_in_words() -> None:
    assert Died(-11).how == "signal 11"
    assert Died(7).how == "status 7"


def test_a_caller_that_stops_early_leaves_no_process() -> None:
    import multiprocessing

    results = run_in_processes(double, [str(n) for n in range(500)], [90_000] * 500, 2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []
