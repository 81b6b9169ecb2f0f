"""What one run of one test file has to say: the tests that were loaded, their outcomes, and how the process ended."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


class VerifyError(Exception):
    """``verify`` could not do what was asked: a missing file or revision, a Python without torch, an unknown
    device."""


class OutcomeKind(str, enum.Enum):
    """What became of one test. The values are the words of the report and of the JSON output."""

    PASSED = "passed"
    EXPECTED_FAILURE = "expected failure"
    SKIPPED = "skipped"
    FAILED = "failed"
    ERROR = "error"
    UNEXPECTED_SUCCESS = "unexpected success"
    OUT_OF_MEMORY = "out of memory"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    EXITED = "ended the process"
    NOT_RUN = "not run"

    @property
    def rank(self) -> int:
        """Higher is better: passes, skips, failures, and last what takes the process with it or never ran."""
        return _RANKS.get(self, 0)

    @property
    def is_good(self) -> bool:
        return self.rank == 3

    @property
    def is_bad(self) -> bool:
        return self.rank < 2


_RANKS = {
    OutcomeKind.PASSED: 3,
    OutcomeKind.EXPECTED_FAILURE: 3,
    OutcomeKind.SKIPPED: 2,
    OutcomeKind.FAILED: 1,
    OutcomeKind.ERROR: 1,
    OutcomeKind.UNEXPECTED_SUCCESS: 1,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one test; ``detail`` is the end of its traceback, or the reason for a skip."""

    kind: OutcomeKind
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LoadedTest:
    """One test as the loader named it.

    ``template_class`` and ``template_test`` are what ``instantiate_device_type_tests`` made it from, with the device
    taken out of the name; for a class that was not instantiated they are the class's and the method's own names.
    """

    id: str
    class_name: str
    method: str
    device_type: str | None
    template_class: str
    template_test: str
    label: str | None = None

    @property
    def name(self) -> str:
        """``TestFooCPU.test_x_cpu``: the ID without the module."""
        return f"{self.class_name}.{self.method}" if self.class_name else self.method

    @property
    def template(self) -> tuple[str, str]:
        return self.template_class, self.template_test


class EndingKind(str, enum.Enum):
    """How the process of a run ended."""

    COMPLETED = "completed"
    IMPORT_ERROR = "import error"
    CRASHED = "crash"
    TIMED_OUT = "hang"
    EXITED = "exit"
    OUT_OF_MEMORY = "out of memory"
    NO_TORCH = "no torch"
    NO_BACKEND = "no such device"


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of one process.

    ``during`` is the ID of the test it was in, None outside of tests; ``detail`` names the signal, status or limit;
    ``tail`` is the end of what the process wrote.
    """

    kind: EndingKind
    during: str | None = None
    detail: str = ""
    tail: str = ""


class Side(str, enum.Enum):
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Run:
    """One file, before or after, on one device.

    ``endings`` has one entry a process: after one that ended early, the tests not reached are run in another.
    ``selected`` maps each label to the test IDs that ``--hw-classification`` selects; ``stand_in`` says that this
    torch has no ``HardwareClassification`` and the runner's own was used.
    """

    file: str
    side: Side
    device: str
    tests: tuple[LoadedTest, ...]
    outcomes: Mapping[str, Outcome]
    endings: tuple[Ending, ...]
    selected: Mapping[str, frozenset[str]] = field(default_factory=dict)
    label_errors: tuple[str, ...] = ()
    torch_version: str = ""
    device_type: str = ""
    stand_in: bool = False

    def outcome(self, test: LoadedTest) -> Outcome:
        return self.outcomes.get(test.id, Outcome(OutcomeKind.NOT_RUN))

    @property
    def failed_to_load(self) -> Ending | None:
        """The ending of a run that never got as far as a list of tests."""
        early = [ending for ending in self.endings if ending.kind is not EndingKind.COMPLETED]
        return early[0] if early and not self.tests else None
