from __future__ import annotations

import json
from typing import Any

from hwlint.verify.journal import Journal, read_journal
from hwlint.verify.model import EndingKind, OutcomeKind
from hwlint.verify.process import Exit, Limits
from hwlint.verify.runs import ending_of

TEST = {
    "id": "__main__.TestA.test_x", "module": "__main__", "class": "TestA", "method": "test_x", "device_type": None,
    "template_class": "TestA", "template_test": "test_x", "label": None,
}  # fmt: skip
OTHER = TEST | {"id": "__main__.TestA.test_y", "method": "test_y", "template_test": "test_y"}


def journal(*events: dict[str, Any], cut: str = "") -> Journal:
    return read_journal([*(json.dumps(event) + "\n" for event in events), cut])


STARTED = {"event": "started", "torch": "0", "device_type": "cpu", "stand_in": False}
COLLECTED = {"event": "collected", "tests": [TEST, OTHER]}
START = {"event": "start", "id": TEST["id"]}
END = {"event": "end", "id": TEST["id"], "outcome": "passed"}


def test_outcomes() -> None:
    read = journal(COLLECTED, START, END, {"event": "done"})
    assert [test.name for test in read.tests] == ["TestA.test_x", "TestA.test_y"]
    assert read.outcomes[TEST["id"]].kind is OutcomeKind.PASSED  # type: ignore[index]
    assert (read.in_flight, read.done) == (None, True)


def test_cut_off_line_leaves_the_test_in_flight() -> None:
    read = journal(COLLECTED, START, cut='{"event": "end", "id"')
    assert (read.in_flight, read.done) == (TEST["id"], False)


def test_failed_fixture_stands_for_its_class() -> None:
    fixture = {"event": "fixture", "name": "setUpClass (__main__.TestA)", "outcome": "error", "detail": "no"}
    read = journal(COLLECTED, fixture, {"event": "done"})
    assert {outcome.kind for outcome in read.outcomes.values()} == {OutcomeKind.ERROR}
    assert len(read.outcomes) == 2


def test_failed_tear_down_stands_for_no_test() -> None:
    fixture = {"event": "fixture", "name": "tearDownClass (__main__.TestA)", "outcome": "error", "detail": "no"}
    assert not journal(COLLECTED, fixture).outcomes


def ending(read: Journal, status: int, *, timed_out: bool = False, over_memory: bool = False, tail: str = "") -> Any:
    return ending_of(Exit(status, timed_out, over_memory, tail), read, Limits(5, 100))


def test_endings_are_told_apart() -> None:
    running = journal(STARTED, COLLECTED, START)
    assert ending(journal(COLLECTED, START, END, {"event": "done"}), 0).kind is EndingKind.COMPLETED
    for found, kind in (
        (ending(running, -11), EndingKind.CRASHED),
        (ending(running, -9, timed_out=True), EndingKind.TIMED_OUT),
        (ending(running, -9, over_memory=True), EndingKind.OUT_OF_MEMORY),
        (ending(running, -9), EndingKind.OUT_OF_MEMORY),
        (ending(running, -6, tail="terminate called: std::bad_alloc"), EndingKind.OUT_OF_MEMORY),
        (ending(running, -6), EndingKind.CRASHED),
        (ending(running, 0), EndingKind.EXITED),
        (ending(running, 7), EndingKind.EXITED),
    ):
        assert (found.kind, found.during) == (kind, TEST["id"])
    assert "SIGSEGV" in ending(running, -11).detail
    assert "while importing" in ending(journal(STARTED), -11).detail
    assert ending(journal(STARTED), 5).kind is EndingKind.EXITED
    assert ending(journal(), 5).kind is EndingKind.NO_TORCH
    assert ending(running, -40).detail == "signal 40"


def test_problems_before_any_test() -> None:
    for problem, status, kind in (
        ("import error", 64, EndingKind.IMPORT_ERROR),
        ("import error", 66, EndingKind.OUT_OF_MEMORY),
        ("no torch", 65, EndingKind.NO_TORCH),
        ("no backend", 67, EndingKind.NO_BACKEND),
    ):
        assert ending(journal({"event": problem, "detail": "why"}), status).kind is kind
