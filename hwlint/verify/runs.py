"""Runs one file on one device: starts the runner, reads its journal, and goes on after a process that ended early."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hwlint.verify.journal import Journal, read_journal
from hwlint.verify.model import Ending, EndingKind, LoadedTest, Outcome, OutcomeKind, Run, Side
from hwlint.verify.process import Exit, Limits, run_in_group

RUNNER_FOLDER = Path(__file__).parent / "runner"
REFERENCE_PACKAGE = Path(__file__).parent.parent / "reference_device"
MAX_PROCESSES = 5
"""A file in which five tests each take the process down is given up: the tests that are left are not run."""

_OUTCOME_OF_ENDING = {
    EndingKind.CRASHED: OutcomeKind.CRASHED,
    EndingKind.TIMED_OUT: OutcomeKind.TIMED_OUT,
    EndingKind.EXITED: OutcomeKind.EXITED,
    EndingKind.OUT_OF_MEMORY: OutcomeKind.OUT_OF_MEMORY,
}
_STATUS_OUT_OF_MEMORY = 66  # EXIT_OUT_OF_MEMORY of hwlint_runner.__main__
_PROBLEMS = {
    "import error": EndingKind.IMPORT_ERROR,
    "no torch": EndingKind.NO_TORCH,
    "no backend": EndingKind.NO_BACKEND,
}


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that has torch, and how test files are run in it."""

    python: str
    limits: Limits
    runner: str = "unittest"
    backend_module: str | None = None


def run_file(
    interpreter: Interpreter, path: Path, *, file: str, side: Side, device: str, only: Iterable[str] | None = None,
    max_processes: int = MAX_PROCESSES,
) -> Run:  # fmt: skip
    """Run the test file at ``path`` on one device.

    Args:
        file: the name to report it by.
        only: the IDs to run; None for all.
        max_processes: how often to go on, in another process, after one that did not come to its end.
    """
    outcomes: dict[str, Outcome] = {}
    endings: list[Ending] = []
    first: Journal | None = None
    wanted = None if only is None else list(only)
    with tempfile.TemporaryDirectory(prefix="hwlint-verify-") as folder:
        for _ in range(max_processes):
            journal, ending = _run_once(interpreter, path, device, wanted, Path(folder))
            first = first or journal
            endings.append(ending)
            reached = dict(journal.outcomes)
            if ending.during is not None and ending.kind in _OUTCOME_OF_ENDING:
                detail = "\n".join(filter(None, (ending.detail, ending.tail)))
                reached[ending.during] = Outcome(_OUTCOME_OF_ENDING[ending.kind], detail)
            outcomes.update(reached)
            if ending.kind is EndingKind.COMPLETED or not journal.tests or not reached:
                break
            wanted = [test.id for test in journal.tests if test.id not in outcomes]
            if not wanted:
                break
    assert first is not None
    return Run(
        file=file,
        side=side,
        device=device,
        tests=_in_use(first.tests, outcomes),
        outcomes=outcomes,
        endings=tuple(endings),
        selected=first.selected,
        label_errors=first.label_errors,
        torch_version=first.torch_version,
        device_type=first.device_type,
        stand_in=first.stand_in,
    )


def _in_use(tests: tuple[LoadedTest, ...], outcomes: dict[str, Outcome]) -> tuple[LoadedTest, ...]:
    # A loader may list a test twice, for instance where a class has two names in its module.
    return tuple({test.id: test for test in tests}.values())


def _run_once(
    interpreter: Interpreter, path: Path, device: str, only: list[str] | None, folder: Path
) -> tuple[Journal, Ending]:
    journal_path, only_path, output = folder / "journal.jsonl", folder / "only.txt", folder / "output.txt"
    journal_path.write_text("")
    command = [
        interpreter.python, "-u", "-m", "hwlint_runner", str(path), "--journal", str(journal_path),
        "--device", device, "--reference-package", str(REFERENCE_PACKAGE), "--runner", interpreter.runner,
    ]  # fmt: skip
    if interpreter.backend_module and device not in ("cpu", "reference"):
        command += ["--backend-module", interpreter.backend_module]
    if only is None:
        command.append("--labels")
    else:
        only_path.write_text("\n".join(only), encoding="utf-8")
        command += ["--only", str(only_path)]
    try:
        end = run_in_group(
            command, cwd=path.parent, environment=runner_environment(), output=output, limits=interpreter.limits
        )
    except OSError as error:
        return read_journal(()), Ending(EndingKind.NO_TORCH, detail=f"{interpreter.python}: {error.strerror}")
    with journal_path.open(encoding="utf-8", errors="replace") as lines:
        journal = read_journal(lines)
    return journal, ending_of(end, journal, interpreter.limits)


def ending_of(end: Exit, journal: Journal, limits: Limits) -> Ending:
    """Tell apart how a process ended, from its exit status, the limits it met, and what its journal last said."""
    during = journal.in_flight
    if journal.problem is not None:
        kind, detail = journal.problem
        if end.status == _STATUS_OUT_OF_MEMORY:
            return Ending(EndingKind.OUT_OF_MEMORY, None, "while importing the file", detail)
        head, _, traceback = detail.strip().partition("\n")
        return Ending(_PROBLEMS[kind], None, head, traceback or end.tail)
    if journal.done:
        return Ending(EndingKind.COMPLETED)
    where = "" if journal.collected else " while importing the file"
    if end.timed_out:
        return Ending(EndingKind.TIMED_OUT, during, f"no end after {limits.timeout:g} s{where}", end.tail)
    if end.over_memory:
        return Ending(EndingKind.OUT_OF_MEMORY, during, f"more than {limits.memory} MB{where}", end.tail)
    if end.status == -signal.SIGKILL:
        # Nobody here sent it: the usual sender is the system, short of memory.
        return Ending(EndingKind.OUT_OF_MEMORY, during, f"killed with SIGKILL{where}", end.tail)
    if end.status < 0:
        if "std::bad_alloc" in end.tail:
            return Ending(EndingKind.OUT_OF_MEMORY, during, f"std::bad_alloc{where}", end.tail)
        return Ending(EndingKind.CRASHED, during, f"{_signal_name(-end.status)}{where}", end.tail)
    if not journal.started:
        return Ending(EndingKind.NO_TORCH, None, f"the interpreter did not start the runner: {end.tail}", end.tail)
    return Ending(EndingKind.EXITED, during, f"exit status {end.status}{where}", end.tail)


def _signal_name(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def runner_environment() -> dict[str, str]:
    """The caller's environment, without what would make PyTorch's ``run_tests`` do something else than run tests."""
    dropped = {"CI", "PYTORCH_TESTING_DEVICE_EXCEPT_FOR", "PYTORCH_TESTING_DEVICE_ONLY_FOR", "TEST_SAVE_XML"}
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    entries = [str(RUNNER_FOLDER), *filter(None, [environment.get("PYTHONPATH")])]
    return environment | {"PYTHONPATH": os.pathsep.join(entries), "PYTHONDONTWRITEBYTECODE": "1"}
