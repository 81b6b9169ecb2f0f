"""Runs a test file under pytest and writes the runner's journal. Used inside the runner; needs pytest there."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

from . import identity, labels


class JournalPlugin:
    """A pytest plugin that passes collection and outcomes on to the journal."""

    def __init__(self, options: argparse.Namespace, journal: Any) -> None:
        self._options = options
        self._journal = journal
        self._ids: dict[str, str] = {}
        self._errors: list[str] = []

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._errors.append(str(report.longrepr))

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self._options.only:
            wanted = set(Path(self._options.only).read_text(encoding="utf-8").split("\n"))
            items[:] = [item for item in items if identify(item)["id"] in wanted]
        described = [identify(item) for item in items]
        self._ids = {item.nodeid: test["id"] for item, test in zip(items, described)}
        if self._errors:
            return
        self._journal.write("collected", tests=described)
        if self._options.labels:
            self._write_selections(items)
        if self._options.collect_only:
            items.clear()

    def _write_selections(self, items: list[Any]) -> None:
        common_utils: Any = importlib.import_module("torch.testing._internal.common_utils")
        filter_items = getattr(common_utils, "filter_by_hw_classification", None)
        for label in labels.LABELS:
            member = getattr(common_utils.HardwareClassification, label, None)
            if member is None:
                continue
            chosen: list[Any] = []
            if filter_items is not None:
                filter_items(items, {member}, lambda item: item.cls, on_match=chosen.append)
            else:
                chosen = [item for item in items if getattr(item.cls, "hw_classification", None) is member]
            self._journal.write("selected", label=label, tests=[self._ids[item.nodeid] for item in chosen], error="")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._journal.write("start", id=self._ids.get(nodeid, nodeid))

    def pytest_runtest_logreport(self, report: Any) -> None:
        outcome = outcome_of(report)
        if outcome:
            detail = "" if outcome == "passed" else detail_of(report)
            self._journal.write("end", id=self._ids.get(report.nodeid, report.nodeid), outcome=outcome, detail=detail)

    def pytest_sessionfinish(self) -> None:
        if self._errors:
            self._journal.write("import error", detail="\n".join(self._errors[0].splitlines()[-25:]))
        self._journal.write("done")


def identify(item: Any) -> dict[str, Any]:
    """The identity of a collected item: that of its class's test, or of a plain function (which has no class)."""
    if item.cls is not None:
        return identity.describe_method(item.cls, item.name)
    module = item.module.__name__
    return {
        "id": f"{module}.{item.name}", "module": module, "class": "", "method": item.name, "device_type": None,
        "template_class": "", "template_test": item.name, "label": None,
    }  # fmt: skip


def outcome_of(report: Any) -> str:
    """The outcome that a report settles, in the runner's words; empty where a later report will."""
    if hasattr(report, "wasxfail"):
        if report.when == "call" or report.skipped:
            return "expected failure" if report.skipped else "unexpected success"
        return ""
    if report.when == "call":
        return str(report.outcome)
    if report.when == "setup" and report.skipped:
        return "skipped"
    return "error" if report.failed else ""


def detail_of(report: Any) -> str:
    """A skip's reason, or the exception in one line and the last lines of what pytest shows."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    head = [crash.message.partition("\n")[0]] if crash is not None else []
    return "\n".join(head + str(report.longrepr).splitlines()[-25:])


def run(file: Path, options: argparse.Namespace, journal: Any) -> int:
    """Run ``file``. Returns the runner's exit status: 0 once the tests have been run, whatever became of them."""
    import pytest

    pytest.main(["-q", "-p", "no:cacheprovider", str(file)], plugins=[JournalPlugin(options, journal)])
    return 0
