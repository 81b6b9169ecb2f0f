"""Reads the journal that the runner writes: one JSON object a line, cut short wherever the process ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hwlint.verify.model import LoadedTest, Outcome, OutcomeKind


@dataclass(frozen=True, slots=True)
class Journal:
    """What one process wrote down. ``in_flight`` is the test that had started and not ended; ``started`` says that
    torch and the device were loaded, ``collected`` that the tests were."""

    tests: tuple[LoadedTest, ...]
    outcomes: Mapping[str, Outcome]
    in_flight: str | None
    started: bool
    collected: bool
    done: bool
    selected: Mapping[str, frozenset[str]]
    label_errors: tuple[str, ...]
    problem: tuple[str, str] | None
    torch_version: str
    device_type: str
    stand_in: bool


def read_journal(lines: Iterable[str]) -> Journal:
    """Read a journal from its lines. A last line that was cut off is passed over, as are events it does not know."""
    tests: list[LoadedTest] = []
    outcomes: dict[str, Outcome] = {}
    fixtures: list[tuple[str, Outcome]] = []
    selected: dict[str, frozenset[str]] = {}
    label_errors: list[str] = []
    in_flight: str | None = None
    collected = done = False
    problem: tuple[str, str] | None = None
    started: dict[str, Any] = {}
    for event in _events(lines):
        kind = event["event"]
        if kind == "started":
            started = event
        elif kind == "collected":
            collected = True
            tests = [read_test(test) for test in event["tests"]]
        elif kind == "selected":
            selected[event["label"]] = frozenset(event["tests"])
            if event["error"]:
                label_errors.append(event["error"])
        elif kind == "start":
            in_flight = event["id"]
        elif kind == "end":
            in_flight = None
            # pytest may report a second phase of the same test; the worse one counts.
            outcome = Outcome(OutcomeKind(event["outcome"]), event.get("detail", ""))
            known = outcomes.get(event["id"])
            if known is None or outcome.kind.rank < known.kind.rank:
                outcomes[event["id"]] = outcome
        elif kind == "fixture":
            fixtures.append((event["name"], Outcome(OutcomeKind(event["outcome"]), event.get("detail", ""))))
        elif kind in ("import error", "no torch", "no backend"):
            problem = (kind, event.get("detail", ""))
        elif kind == "done":
            done = True
    for name, outcome in fixtures:
        for test in tests:
            if test.id not in outcomes and fixture_covers(name, test):
                outcomes[test.id] = outcome
    return Journal(
        tests=tuple(tests),
        outcomes=outcomes,
        in_flight=in_flight,
        started=bool(started),
        collected=collected,
        done=done,
        selected=selected,
        label_errors=tuple(dict.fromkeys(label_errors)),
        problem=problem,
        torch_version=started.get("torch", ""),
        device_type=started.get("device_type", ""),
        stand_in=bool(started.get("stand_in", False)),
    )


def read_test(fields: Mapping[str, Any]) -> LoadedTest:
    """A ``LoadedTest`` from the runner's plain data."""
    return LoadedTest(
        id=fields["id"],
        class_name=fields["class"],
        method=fields["method"],
        device_type=fields["device_type"],
        template_class=fields["template_class"],
        template_test=fields["template_test"],
        label=fields["label"],
    )


def fixture_covers(name: str, test: LoadedTest) -> bool:
    """Whether unittest's name for a failed fixture, such as ``setUpClass (__main__.TestFoo)``, stands for this test
    too."""
    if not name.startswith("setUp"):
        return False
    target = name.partition("(")[2].rstrip(")")
    return test.id.startswith(f"{target}.")


def _events(lines: Iterable[str]) -> Iterable[dict[str, Any]]:
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "event" in event:
            yield event
