"""The pipeline from a linked suite to findings: rules, per-file-ignores, suppressions, allowlisted files, crashes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hwlint import codec
from hwlint.check import Checked, check
from hwlint.config import Settings
from hwlint.discover import Discovery
from hwlint.engine import Analysis, analyze
from hwlint.findings import Finding, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.registry import rules_for
from hwlint.scan.facts import Span

UNTAGGED = """\
from torch.testing._internal.common_utils import TestCase


class ParserTest(TestCase):
    def test_empty(self):
        self.assertEqual([], [])
"""
TAGGED = """\
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class ParserTest(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_empty(self):
        self.assertEqual([], [])
"""


def commented(source: str, comment: str) -> str:
    return source.replace("(TestCase):", f"(TestCase):  # hwlint: {comment}")


def analysis(files: dict[str, str], **settings: Any) -> Analysis:
    discovery = Discovery(Path("/nowhere"), tuple(sorted(files)))
    overlay = {path: text.encode() for path, text in files.items()}
    return analyze(Settings(root=discovery.root, **settings), discovery, jobs=1, overlay=overlay)


def codes(checked: Checked) -> list[tuple[str, str]]:
    return [(finding.path, finding.code) for finding in checked.findings]


def run(files: dict[str, str], settings: dict[str, Any] | None = None, **options: Any) -> Checked:
    linked = analysis(files, **(settings or {}))
    return check(linked, rules_for(linked.settings), **options)


def test_findings_come_in_order_of_path_line_and_code() -> None:
    twice = UNTAGGED + UNTAGGED.replace("ParserTest", "LexerTest")
    checked = run({"test_b.py": twice, "test_a.py": UNTAGGED, "test_c.py": TAGGED})
    assert codes(checked) == [("test_a.py", "HW101"), ("test_b.py", "HW101"), ("test_b.py", "HW101")]
    assert checked.files == 3


def test_per_file_ignores_leave_out_and_are_counted() -> None:
    settings = {"per_file_ignores": (("legacy", ("HW1",)),)}
    checked = run({"legacy/test_a.py": UNTAGGED, "test_b.py": UNTAGGED}, settings)
    assert codes(checked) == [("test_b.py", "HW101")]
    assert checked.ignored == 1


def test_a_suppression_holds_and_an_idle_one_is_reported() -> None:
    held = commented(UNTAGGED, "ignore[HW101]  moves soon")
    idle = commented(TAGGED, "ignore[HW101]  moved")
    checked = run({"test_a.py": held, "test_b.py": idle})
    assert codes(checked) == [("test_b.py", "HW002")]
    assert checked.suppressed == 1
    without = run({"test_a.py": held, "test_b.py": idle}, suppress=False)
    assert codes(without) == [("test_a.py", "HW101")]


def test_an_idle_suppression_of_a_rule_that_did_not_run_is_not_reported() -> None:
    idle = commented(TAGGED, "ignore[HW101]  moved")
    assert codes(run({"test_a.py": idle}, {"ignore": ("HW101",)})) == []
    assert codes(run({"test_a.py": idle}, {"per_file_ignores": (("test_a.py", ("HW101",)),)})) == []


def test_a_suppression_has_to_give_its_reason_at_level_full() -> None:
    bare = commented(UNTAGGED, "ignore[HW101]")
    checked = run({"test_a.py": bare})
    assert [(f.code, f.severity) for f in checked.findings] == [("HW002", Severity.WARNING)]
    assert "gives no reason" in checked.findings[0].message
    assert run({"test_a.py": bare}, {"require_reason": False}).findings == ()
    assert run({"test_a.py": bare}, {"level": "upstream"}).findings == ()


def test_files_passed_over_are_judged_clean_or_not_and_nothing_more() -> None:
    held = commented(UNTAGGED, "ignore[HW101]  moves soon")
    files = {"test_a.py": UNTAGGED, "test_b.py": TAGGED, "test_c.py": held, "test_d.py": "def broken(:\n"}
    checked = run(files, passed_over=set(files))
    assert (checked.findings, checked.files, checked.passed_over) == ((), 0, 4)
    assert checked.clean == ("test_b.py",)


def test_severities_are_the_configurations_to_set() -> None:
    settings = {"severity": (("HW1", "warning"), ("HW101", "info"))}
    (finding,) = run({"test_a.py": UNTAGGED}, settings).findings
    assert finding.severity is Severity.INFO


def test_a_file_that_cannot_be_parsed_does_not_stop_the_others() -> None:
    assert codes(run({"test_a.py": "def broken(:\n", "test_b.py": UNTAGGED})) == [
        ("test_a.py", "HW001"),
        ("test_b.py", "HW101"),
    ]


class Broken(Rule):
    code = "HW998"
    name = "broken"
    summary = why = bad = good = ""

    def check(self, context: RuleContext) -> Iterator[Finding]:
        if context.module.path == "test_a.py":
            raise KeyError(context.module.path)
        yield Finding(self.code, context.module.path, Span(1, 0, 1, 1), Severity.ERROR, "found")


class Doubled(Rule):
    code = "HW999"
    name = "doubled"
    summary = why = bad = good = ""

    def check(self, context: RuleContext) -> Iterator[Finding]:
        yield Finding(self.code, "test_a.py", Span(1, 0, 1, 1), Severity.ERROR, "one cause")
        yield Finding(self.code, "test_a.py", Span(1, 0, 1, 1), Severity.ERROR, "one cause")


def test_a_rule_that_crashes_costs_its_file_alone() -> None:
    linked = analysis({"test_a.py": TAGGED, "test_b.py": TAGGED})
    checked = check(linked, (Broken, Doubled))
    assert codes(checked) == [("test_a.py", "HW999"), ("test_a.py", "HW999"), ("test_b.py", "HW998")]
    (crash,) = checked.crashes
    assert (crash.path, crash.stage, crash.message) == ("test_a.py", "HW998", "KeyError: 'test_a.py'")
    assert "raise KeyError(context.module.path)" in crash.traceback


def test_one_cause_is_reported_once() -> None:
    assert codes(check(analysis({"test_a.py": TAGGED}), (Doubled,))) == [("test_a.py", "HW999")]


@pytest.mark.parametrize("level", ["upstream", "full"])
def test_the_result_survives_the_cache(level: str) -> None:
    checked = run({"test_a.py": UNTAGGED, "test_b.py": "def broken(:\n"}, {"level": level})
    assert codec.decode(Checked, codec.encode(checked)) == checked
