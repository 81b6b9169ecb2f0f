"""The framework around the codemods: what is proved, what is taken back, what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from codemods.edit import SourceFile, Splice
from codemods.neighbours import Neighbourhood
from codemods.pipeline import FileRun, Outcome
from codemods.plan import REASONS, CannotEdit, Change, Codemod, Context, Options, Plan, PlanBuilder, Refusal
from hwlint.catalog import load_catalog
from hwlint.config import Settings
from hwlint.scan.facts import Span
from hwlint.scan.module import scan_module
from hwlint.suite.link import link
from tests.codemods.harness import PATH

SOURCE = """\
from torch.testing._internal.common_utils import TestCase


class A(TestCase):
    def test_a(self):
        pass  # a


class B(TestCase):
    def test_b(self):
        pass  # b


class C(TestCase):
    def test_c(self):
        pass  # c
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange(Change):
    old: str
    new: str


def codemod(*replacements: tuple[str, str], applicability: str = "safe", once: bool = True) -> Codemod:
    """A codemod that replaces texts, each in a change of its own."""

    class Replace(Codemod):
        name = "replace"
        summary = "Replaces texts."

        def plan(self, context: Context) -> Plan:
            plan = PlanBuilder(self.name)
            text = context.source().text
            for old, new in replacements:
                if old in text and not (once and new in text):
                    line = text[: text.index(old)].count("\n") + 1
                    plan.add(
                        TextChange(
                            codemod=self.name,
                            symbol=old,
                            span=Span(line, 0, line, 0),
                            description=f"write {new!r}",
                            applicability=applicability,  # type: ignore[arg-type]
                            old=old,
                            new=new,
                        )
                    )
            return plan.done()

        def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
            found = []
            for change in changes:
                assert isinstance(change, TextChange)
                if change.new == "CANNOT":
                    raise CannotEdit("it cannot be done")
                at = file.text.index(change.old)
                found.append(Splice(at, at + len(change.old), change.new))
            return found

    return Replace()


def run(*codemods: Codemod, source: str = SOURCE, **options: object) -> Outcome:
    catalog = load_catalog()
    module = scan_module(source.encode(), PATH, catalog)
    suite = link([module], catalog)
    file_run = FileRun(Neighbourhood(suite, PATH), Settings(), Options(**options), list(codemods))  # type: ignore[arg-type]
    return file_run.run(source.encode(), module, suite)


def only_refusal(outcome: Outcome) -> Refusal:
    (refusal,) = outcome.refusals
    return refusal


BAD: dict[str, tuple[str, str, str]] = {
    "does not parse": ("def test_b(self):", "def test_b(self:", "does not parse"),
    "loses a comment": ("pass  # b", "z = 1", "a comment is lost: # b"),
    "loses a test": ("def test_b", "def helper_b", "a test is lost"),
    "brings another line end": ("pass  # b\n", "pass  # b\r\n", "line end"),
    "takes the last newline": ("pass  # c\n", "z = 1  # c", "newline at the end"),
    "makes an error": (
        "class B(TestCase):",
        "class B(TestCase):\n    hw_classification = 3\n",
        "HW102",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_change_is_taken_back_and_the_good_ones_stay(name: str) -> None:
    old, new, why = BAD[name]
    good = ("class A(TestCase):", "class A(TestCase):\n    x = 1\n")
    outcome = run(codemod(good, (old, new)))
    assert outcome.after.decode() == SOURCE.replace(*good)
    refusal = only_refusal(outcome)
    assert refusal.reason == "guard"
    assert why in refusal.text
    assert [c.symbol for c in outcome.changes] == [good[0]]


def test_a_layout_that_cannot_be_edited_is_refused_alone() -> None:
    outcome = run(codemod(("pass  # a", "x = 1  # a"), ("pass  # b", "CANNOT"), ("pass  # c", "y = 1  # c")))
    assert outcome.after.decode() == SOURCE.replace("pass  # a", "x = 1  # a").replace("pass  # c", "y = 1  # c")
    assert only_refusal(outcome).reason == "layout"


def test_a_change_that_would_be_made_again_is_taken_back() -> None:
    again = run(codemod(("x = 1\n", "x = 1\nx = 1\n"), once=False), source="x = 1\n")
    assert again.after == b"x = 1\n"
    assert "done again" in only_refusal(again).text


def test_codemods_that_undo_each_other_change_nothing() -> None:
    outcome = run(codemod(("# a", "# b2  # a"), once=False), codemod(("# b2  # a", "# a"), once=False))
    assert outcome.after.decode() == SOURCE
    assert outcome.refusals[0].reason == "guard"


def test_changes_that_meet_are_made_one_at_a_time_or_refused() -> None:
    outcome = run(
        codemod(("test_a(self)", "test_a(self, *x)"), ("(self):\n        pass  # a", "(self):\n        x = 1  # a"))
    )
    assert outcome.after.decode().count("# a") == 1
    assert len(outcome.changes) == 1


def test_unsafe_changes_are_held_back_until_asked_for() -> None:
    one = ("pass  # a", "x = 1  # a")
    outcome = run(codemod(one, applicability="unsafe"))
    assert not outcome.changed
    assert [c.symbol for c in outcome.held] == ["pass  # a"]
    outcome = run(codemod(one, applicability="unsafe"), unsafe=True)
    assert outcome.after.decode() == SOURCE.replace(*one)
    assert not outcome.held


def test_lines_of_the_result_are_traced_to_the_original() -> None:
    outcome = run(codemod(("pass  # a", "x = 1\n        y = 2  # a"), ("pass  # c", "z = 3  # c")))
    after, before = outcome.after.decode().split("\n"), SOURCE.split("\n")
    for text in ("class A(TestCase):", "class B(TestCase):", "class C(TestCase):", "    def test_c(self):"):
        assert outcome.line_before(after.index(text) + 1) == before.index(text) + 1


def test_a_file_that_does_not_parse_is_refused() -> None:
    assert only_refusal(run(codemod(), source="def (:\n")).reason == "unreadable"


def test_a_refusal_has_a_reason_that_everybody_knows() -> None:
    with pytest.raises(ValueError, match="no reason"):
        Refusal("x", "", "because", "", Span(1, 0, 1, 0))
    assert all(text and not text.endswith(".") for text in REASONS.values())
