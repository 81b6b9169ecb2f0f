"""Which lines a suppression covers, what is malformed, and what applying them does."""

from __future__ import annotations

import ast
import textwrap

import pytest

from hwlint.findings import Finding, Severity
from hwlint.scan.facts import Problem, Span, Suppression
from hwlint.scan.reading import parse, read_source
from hwlint.scan.suppressions import read_suppressions
from hwlint.suppressing import apply


def read(text: str) -> tuple[tuple[Suppression, ...], tuple[Problem, ...]]:
    source = read_source(textwrap.dedent(text).encode(), "test_x.py")
    assert not isinstance(source, Problem)
    tree = parse(source)
    assert isinstance(tree, ast.Module)
    return read_suppressions(source, tree)


def only(text: str) -> Suppression:
    found, problems = read(text)
    assert problems == ()
    assert len(found) == 1
    return found[0]


def finding(line: int, code: str = "HW201") -> Finding:
    return Finding(code, "test_x.py", Span(line, 0, line, 1), Severity.ERROR, "m")


def test_a_line() -> None:
    one = only('a = 1\nb = "cuda"  # hwlint: ignore[HW201, HW203]  needs a real GPU, see #12\nc = 1\n')
    assert one == Suppression(
        Span(2, 12, 2, 69), ("HW201", "HW203"), "needs a real GPU, see #12", first_line=2, last_line=2
    )


@pytest.mark.parametrize("comment_line", [2, 5])
def test_a_whole_statement_from_its_first_or_last_line(comment_line: int) -> None:
    lines = ["a = 1", "f(", "    1,", "    2,", ")", "b = 1"]
    lines[comment_line - 1] += "  # hwlint: ignore[HW201]  why"
    one = only("\n".join(lines) + "\n")
    assert (one.first_line, one.last_line) == (2, 5)


def test_inside_a_statement_the_line_alone() -> None:
    one = only("f(\n    1,  # hwlint: ignore[HW201]  why\n    2,\n)\n")
    assert (one.first_line, one.last_line) == (2, 2)


def test_after_a_long_string() -> None:
    one = only('s = """\n# hwlint: ignore[HW999]  text\n"""  # hwlint: ignore[HW201]  why\n')
    assert one.codes == ("HW201",)
    assert (one.first_line, one.last_line) == (1, 3)


@pytest.mark.parametrize("header", ["class A:  {}", "class A(\n    B,\n):  {}", "class A(  {}\n    B,\n):"])
def test_a_class_with_its_decorators_and_body(header: str) -> None:
    head = header.format("# hwlint: ignore[HW201]  why")
    text = f"a = 1\n@one\n@two\n{head}\n    x = 1\n\n    def f(self):\n        pass\nb = 1\n"
    one = only(text)
    assert (one.first_line, one.last_line) == (2, text.count("\n") - 1)


@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_a_function_inside_a_class(keyword: str) -> None:
    one = only(
        f"class A:\n    {keyword} f(self):  # hwlint: ignore[HW201]  why\n"
        "        return (\n            1)\n\n    x = 1\n"
    )
    assert (one.first_line, one.last_line) == (2, 4)


def test_a_decorator_line_is_a_line() -> None:
    one = only("@one  # hwlint: ignore[HW501]  why\ndef f():\n    pass\n")
    assert (one.first_line, one.last_line) == (1, 1)


def test_a_block_header_does_not_cover_the_block() -> None:
    one = only("if a:  # hwlint: ignore[HW201]  why\n    b = 1\n")
    assert (one.first_line, one.last_line) == (1, 1)


def test_a_whole_file_from_anywhere() -> None:
    one = only("a = 1\n# hwlint: ignore-file[HW201]  generated\nb = 1\n")
    assert (one.first_line, one.last_line, one.whole_file) == (1, 4, True)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_with_any_line_end(newline: str) -> None:
    one = only(newline.join(["a = f(", "    1", ")  # hwlint: ignore[HW201]  why", ""]))
    assert (one.first_line, one.last_line, one.reason) == (1, 3, "why")


def test_beside_other_tools_comments() -> None:
    found, problems = read("a = 1  # noqa: E501  # hwlint: ignore[HW201]  why  # type: ignore\n")
    assert problems == ()
    assert [(s.codes, s.reason) for s in found] == [(("HW201",), "why")]


def test_columns_are_in_bytes() -> None:
    assert only("a = 'é'  # hwlint: ignore[HW201]  é\n").span == Span(1, 10, 1, 37)


@pytest.mark.parametrize(
    "comment, words",
    [
        ("ignore", "'ignore' without a rule would hide everything"),
        ("ignore-file  for now", "'ignore-file' without a rule would hide everything"),
        ("ignore[]  why", "the brackets are empty"),
        ("ignore[hw201]  why", "'hw201' is no rule code"),
        ("ignore[HW2]  why", "'HW2' is no rule code"),
        ("ignore[HW201,]  why", "'' is no rule code"),
        ("ignore[HW201  why", "the bracket is not closed"),
        ("ignroe[HW201]  why", "unknown directive 'ignroe'"),
        ("ignroe", "unknown directive 'ignroe'"),
        ("noqa", "unknown directive 'noqa'"),
        ("disable[HW201]", "unknown directive 'disable'"),
    ],
)
def test_what_is_malformed_is_a_problem_at_its_place(comment: str, words: str) -> None:
    found, problems = read(f"a = 1\nb = 1  # hwlint: {comment}\n")
    assert found == ()
    assert [(p.line, p.column, p.kind) for p in problems] == [(2, 7, "suppression")]
    assert words in problems[0].message


@pytest.mark.parametrize(
    "line", ["# hwlint: the linter of this suite", "# see hwlint: ignore[HW201]", "a = '# hwlint: ignore[HW201]'"]
)
def test_prose_and_strings_are_none(line: str) -> None:
    assert read(line + "\n") == ((), ())


def test_apply_parts_the_findings() -> None:
    one = Suppression(Span(3, 0, 3, 9), ("HW201", "HW301"), "why", 2, 4)
    inside, outside, other = finding(3), finding(5), finding(3, "HW202")
    applied = apply([inside, outside, other], [one])
    assert applied.kept == (outside, other)
    assert applied.suppressed == (inside,)
    assert applied.unused == ((one, ("HW301",)),)
    assert applied.problems == ()


def test_rules_that_did_not_run_leave_no_suppression_unused() -> None:
    one = Suppression(Span(3, 0, 3, 9), ("HW201", "HW301"), "why", 2, 4)
    assert apply([], [one], active={"HW201"}).unused == ((one, ("HW201",)),)
    assert apply([], [one], active={"HW101"}).unused == ()


def test_two_that_cover_one_finding_are_both_used() -> None:
    line = Suppression(Span(3, 0, 3, 9), ("HW201",), "why", 3, 3)
    file = Suppression(Span(1, 0, 1, 9), ("HW201",), "why", 1, 9, whole_file=True)
    assert apply([finding(3)], [line, file]).unused == ()


def test_one_without_a_reason_holds_and_is_reported_where_it_is_required() -> None:
    one = Suppression(Span(3, 4, 3, 9), ("HW201",), "", 3, 3)
    assert apply([finding(3)], [one]).problems == ()
    applied = apply([finding(3)], [one], require_reason=True)
    assert applied.kept == ()
    assert [(p.line, p.column, p.kind) for p in applied.problems] == [(3, 4, "suppression")]
    assert "gives no reason" in applied.problems[0].message
