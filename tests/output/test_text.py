from __future__ import annotations

from dataclasses import replace

import pytest

from hwlint.findings import Severity
from hwlint.output import render
from hwlint.output.source import Sources
from hwlint.output.view import View
from hwlint.report import Report, Statistics
from hwlint.scan.facts import Span

GOLDEN = """\
test/test_a.py
    3:14 error HW201 "cuda" places a tensor: 100%, here  [A.test_a]
       3 |     x = ("é", f("cuda"))
         |                 ^^^^^^
         = why: The test stays bound to that device.
         = fix (safe): use device

test/test_b.py
     1:1 warning HW601 B loses test_a
       1 | class B(A):
         | ^^^^^^^^^^^
         = why: Nobody runs them.
         = see: test/test_a.py:2:5  test_a is defined here
         = fix: give B the tests

1 error and 1 warning in 2 of 7 files (1 suppressed, 2 files on the allowlist)
"""


def test_text_is_grouped_by_file_and_points_at_characters(report: Report, view: View) -> None:
    assert render("text", report, view) == GOLDEN


def test_concise_is_one_line_a_finding(report: Report, view: View) -> None:
    assert render("concise", report, view) == (
        'test/test_a.py:3:14: HW201 "cuda" places a tensor: 100%, here\ntest/test_b.py:1:1: HW601 B loses test_a\n'
    )


def test_statistics_count_by_rule(report: Report, view: View) -> None:
    report = replace(report, findings=(*report.findings, *report.findings[1:] * 10))
    counted = replace(view, statistics=True)
    assert render("concise", report, counted) == "11  HW601  lost-tests\n 1  HW201  device-string\n"
    assert render("text", report, counted) == (
        "11  HW601  lost-tests\n 1  HW201  device-string\n\n"
        "1 error and 11 warnings in 2 of 7 files (1 suppressed, 2 files on the allowlist)\n"
    )


def test_a_clean_report_is_its_summary_alone(report: Report, view: View) -> None:
    clean = replace(report, findings=(), statistics=Statistics(files=1))
    assert render("text", clean, view) == "no findings in 1 file\n"
    assert render("text", clean, replace(view, summary=False)) == ""
    assert render("concise", clean, view) == ""


def test_color_changes_no_text(report: Report, view: View) -> None:
    import re

    colored = render("text", report, replace(view, color=True))
    assert "\x1b[1;31merror\x1b[0m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored).replace("  \n", "\n") == GOLDEN


@pytest.mark.parametrize(
    ("source", "span", "shown"),
    [
        ("x = '\x1b[31m\x07'; f('cuda')\n", Span(1, 16, 1, 22), "x = '\ufffd[31m\ufffd'; f('cuda')"),
        ("pad = '" + "y" * 500 + "'; f('cuda')\n", Span(1, 512, 1, 518), "y" * 31 + "'; f('cuda')"),
    ],
    ids=["control characters", "long line"],
)
def test_a_hostile_line_is_made_safe_to_print(report: Report, source: str, span: Span, shown: str) -> None:
    finding = replace(report.findings[0], span=span)
    one = replace(report, findings=(finding,))
    text = render("text", one, View(Sources(report.root, {finding.path: source.encode()}), summary=False))
    line, carets = text.splitlines()[2:4]
    assert line.endswith(shown)
    at = carets.index("^")
    assert line[at : at + len(carets) - at] == "'cuda'"


def test_a_name_with_a_line_break_stays_on_its_line(report: Report, view: View) -> None:
    odd = replace(report, findings=(replace(report.findings[1], path="a\n\x1b[2Jb.py", related=()),))
    assert render("concise", odd, view) == "a\ufffd\ufffd[2Jb.py:1:1: HW601 B loses test_a\n"
    assert render("text", odd, view).startswith("a\ufffd\ufffd[2Jb.py\n     1:1 warning")


def test_wide_characters_move_the_carets(report: Report) -> None:
    source = 's = "日本"; f("cuda")\n'
    column = len('s = "日本"; f('.encode())
    finding = replace(report.findings[0], span=Span(1, column, 1, column + 6))
    view = View(Sources(report.root, {finding.path: source.encode()}), summary=False)
    carets = render("text", replace(report, findings=(finding,)), view).splitlines()[3]
    assert carets == "         | " + " " * 14 + "^" * 6


def test_a_finding_in_a_file_that_is_gone_has_no_excerpt(report: Report, view: View) -> None:
    gone = replace(report.findings[1], path="gone.py", related=(), fix=None, severity=Severity.INFO, symbol="")
    text = render("text", replace(report, findings=(gone,)), replace(view, summary=False))
    assert text == "gone.py\n     1:1 info HW601 B loses test_a\n         = why: Nobody runs them.\n"
