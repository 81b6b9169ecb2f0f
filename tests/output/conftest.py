"""A small report built by hand: one file with a multi-byte line and a tab, another with an exact fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwlint.findings import Finding, Fix, Related, Severity
from hwlint.output.source import Sources
from hwlint.output.view import View
from hwlint.report import Report, Statistics
from hwlint.rules.base import Rule
from hwlint.scan.facts import Span


class Placement(Rule):
    code = "HW201"
    name = "device-string"
    summary = "A tensor is placed on a device by its name."
    why = "The test stays\nbound to that device. A second sentence."
    bad = 'x = f("cuda")\n'
    good = "x = f(device)\n"


class Lost(Rule):
    code = "HW601"
    name = "lost-tests"
    severity = Severity.WARNING
    summary = "Inherited tests are lost."
    why = "Nobody runs them."
    bad = "pass\n"
    good = "pass\n"
    levels = ("upstream", "full")


FIRST = 'class A(TestCase):\n    def test_a(self, device):\n\tx = ("é", f("cuda"))\n'
SECOND = "class B(A):\n    pass\n"

PLACED = Finding(
    code="HW201",
    path="test/test_a.py",
    # é takes two bytes: the byte column 14 of "cuda" is character 14, counted from 1.
    span=Span(3, 14, 3, 20),
    severity=Severity.ERROR,
    message='"cuda" places a tensor: 100%, here',
    symbol="A.test_a",
    detail="placement cuda",
    role="placement",
    fix=Fix("use device", "safe", "device", Span(3, 14, 3, 20)),
)
LOST = Finding(
    code="HW601",
    path="test/test_b.py",
    span=Span(1, 0, 2, 8),
    severity=Severity.WARNING,
    message="B loses test_a",
    symbol="B",
    related=(Related("test/test_a.py", Span(2, 4, 2, 29), "test_a is defined here"),),
    fix=Fix("give B the tests"),
    upstream=True,
)


@pytest.fixture
def report(tmp_path: Path) -> Report:
    (tmp_path / "test").mkdir()
    (tmp_path / "test/test_a.py").write_text(FIRST, encoding="utf-8")
    (tmp_path / "test/test_b.py").write_text(SECOND, encoding="utf-8")
    return Report(
        findings=(PLACED, LOST),
        root=tmp_path,
        statistics=Statistics(files=7, suppressed=1, allowlisted=2),
        rules=(Placement, Lost),
    )


@pytest.fixture
def view(report: Report) -> View:
    return View(Sources(report.root, report.contents))
