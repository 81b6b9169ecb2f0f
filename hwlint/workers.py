"""Worker processes over a list of tasks, where a worker that dies costs its one task and not the run.

concurrent.futures gives up the whole pool when one process dies, without saying on which task; hence the few lines
here.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

AHEAD = 2
"""Batches a worker has been given: one it works on, one so that it need not wait."""
MANY_OBJECTS = 500_000
"""So many that a task has left may be garbage, which is worth a collection."""


@dataclass(frozen=True, slots=True)
class Died:
    """In place of a result: the process that worked on the task ended, twice."""

    exit_code: int

    @property
    def how(self) -> str:
        return f"signal {-self.exit_code}" if self.exit_code < 0 else f"status {self.exit_code}"


def run_in_processes(
    function: Callable[[Any], bytes], tasks: Sequence[Any], sizes: Sequence[int], jobs: int
) -> Iterator[tuple[int, bytes | Died]]:
    """``function`` of each task in one of ``jobs`` processes: (index of the task, result) in the order they are done.

    The largest are started first. ``function`` must not raise. A task on which a process dies is tried once more by
    itself.
    """
    queue = deque(_Batch(indices) for indices in _batches(sizes))
    workers = [_Worker(function, tasks) for _ in range(min(jobs, len(queue)))]
    try:
        while queue or any(w.given for w in workers):
            for worker in workers:
                while queue and len(worker.given) < AHEAD:
                    worker.give(queue.popleft())
            for worker in _ready(workers):
                finished = worker.receive()
                if finished is not None:
                    yield from finished
                    continue
                at = workers.index(worker)
                died = worker.end()
                workers[at] = _Worker(function, tasks)
                begun, *rest = worker.given
                if begun.alone:
                    yield begun.indices[0], died
                else:
                    # Which task it died on is not known: each is tried by itself.
                    rest = [*(_Batch([index], alone=True) for index in begun.indices), *rest]
                queue.extendleft(reversed(rest))
    finally:
        for worker in workers:
            worker.end()


def _batches(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Indices, the largest first and alone, small ones together so that the pipe is not what takes the time."""
    batch: list[int] = []
    total = 0
    for index in sorted(range(len(sizes)), key=lambda i: (-sizes[i], i)):
        batch.append(index)
        total += sizes[index] + 1000
        if total > 100_000:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


@dataclass
class _Batch:
    indices: list[int]
    alone: bool = False


@dataclass
class _Worker:
    function: Callable[[Any], bytes]
    tasks: Sequence[Any]
    given: deque[_Batch] = field(default_factory=deque)
    process: BaseProcess = field(init=False)
    pipe: Connection = field(init=False)

    def __post_init__(self) -> None:
        context = _context()
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(self.function, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, batch: _Batch) -> None:
        self.given.append(batch)
        with suppress(OSError):  # It may have died: its end of the pipe tells, when it is next waited for.
            self.pipe.send([(index, self.tasks[index]) for index in batch.indices])

    def receive(self) -> list[tuple[int, bytes]] | None:
        """The results of one batch, None when the process is gone."""
        try:
            results: list[tuple[int, bytes]] = self.pipe.recv()
        except (EOFError, OSError):
            return None
        self.given.popleft()
        return results

    def end(self) -> Died:
        if self.given:
            self.process.terminate()
        else:
            # Closing the pipe is not enough: workers forked later hold its end as well.
            with suppress(OSError):
                self.pipe.send(None)
        self.process.join()
        self.pipe.close()
        return Died(self.process.exitcode or 0)


def _ready(workers: list[_Worker]) -> list[_Worker]:
    from multiprocessing.connection import wait

    ready = wait([w.pipe for w in workers if w.given])
    return [w for w in workers if w.pipe in ready]


def can_fork() -> bool:
    """Whether workers are forked, and so have everything that is imported and made already.

    With other threads about, or on macOS, that is not safe.
    """
    return sys.platform.startswith("linux") and threading.active_count() == 1


def _context() -> Any:
    import multiprocessing

    return multiprocessing.get_context("fork" if can_fork() else "spawn")


def _work(function: Callable[[Any], bytes], pipe: Connection) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent answers Ctrl-C, by ending us.
    gc.disable()
    gc.freeze()
    with suppress(EOFError, OSError):  # Then nobody waits for results.
        while (batch := pipe.recv()) is not None:
            pipe.send([(index, function(task)) for index, task in batch])
            if gc.get_count()[0] > MANY_OBJECTS:
                gc.collect(0)
