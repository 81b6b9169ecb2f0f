"""HW001-HW003: what is wrong with a file, a suppression or the allowlist rather than with a class.

HW002 and HW003 need more than one module's facts (which findings were suppressed, which files are clean), so the check
itself makes their findings, with :func:`unused_suppression` and :func:`stale_entry`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.findings import Finding, Fix, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.scan.facts import Problem, Span, Suppression

ADVICE = {
    "read": "make the file readable, or exclude it in [tool.hwlint]",
    "encoding": "save the file as UTF-8, or declare its encoding in the first two lines (PEP 263)",
    "syntax": "mend the syntax, or exclude the file in [tool.hwlint]",
    "newer-syntax": "run hwlint with a newer Python",
    "crash": "please report this as a bug of hwlint, with the file",
    "suppression": "write `# hwlint: ignore[CODE]  reason`",
}


class UnreadableFile(Rule):
    code = "HW001"
    name = "syntax-error"
    summary = "A file cannot be read or parsed; the others go on."
    why = (
        "What cannot be parsed cannot be checked, and a file that is passed over in silence looks clean. The finding "
        "says whether it is the encoding, the syntax, or syntax newer than the Python that runs hwlint."
    )
    bad = "def broken(:\n    pass\n"
    good = "def whole():\n    pass\n"
    levels = ("upstream", "full")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        problem = context.module.problem
        if problem is not None:
            yield problem_finding(self.code, context.module.path, problem)


def problem_finding(code: str, path: str, problem: Problem) -> Finding:
    """The finding for a file that could not be read, or a suppression that could not be understood."""
    line, column = max(problem.line, 1), max(problem.column, 0)
    return Finding(
        code=code,
        path=path,
        span=Span(line, column, line, column + 1),
        severity=Severity.ERROR if problem.kind != "suppression" else Severity.WARNING,
        message=problem.message,
        symbol="",
        detail=problem.kind,
        fix=Fix(ADVICE[problem.kind]),
    )


class UnusedSuppression(Rule):
    code = "HW002"
    name = "unused-suppression"
    severity = Severity.WARNING
    summary = "A suppression comment that suppresses nothing, or cannot be understood."
    why = "A comment that outlives its finding hides the next one. Remove it, or the code in it that no longer applies."
    bad = """\
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class ParserTest(TestCase):  # hwlint: ignore[HW101]  no longer true
    hw_classification = HardwareClassification.GENERIC

    def test_empty(self):
        self.assertEqual([], [])
"""
    good = """\
from torch.testing._internal.common_utils import TestCase


class ParserTest(TestCase):  # hwlint: ignore[HW101]  classified with its move, see the tracker
    def test_empty(self):
        self.assertEqual([], [])
"""

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for bad in context.module.bad_suppressions:
            yield problem_finding(self.code, context.module.path, bad)


def unused_suppression(path: str, suppression: Suppression, codes: tuple[str, ...]) -> Finding:
    """The finding for a suppression of which ``codes`` suppress nothing."""
    listed = ", ".join(codes)
    return Finding(
        code=UnusedSuppression.code,
        path=path,
        span=suppression.span,
        severity=UnusedSuppression.severity,
        message=f"suppression of {listed} suppresses nothing",
        detail=listed,
        fix=Fix("remove it" if codes == suppression.codes else f"take {listed} out of it", "shown"),
    )


class StaleAllowlistEntry(Rule):
    code = "HW003"
    name = "stale-allowlist-entry"
    severity = Severity.WARNING
    summary = "The allowlist names a file that is clean, gone, or named twice."
    why = (
        "Upstream's linter passes a listed file over as a whole, so a migrated file that stays in the list can go "
        "wrong again unseen, and the list's length stops saying how much is left."
    )
    bad = ""
    good = ""
    levels = ("upstream", "full")

    def check(self, context: RuleContext) -> Iterator[Finding]:
        return iter(())


def stale_entry(allowlist: str, line: int, entry: str, why: str) -> Finding:
    """The finding for one entry of the allowlist file; ``why`` is 'clean', 'missing', 'duplicated' or 'unsorted'."""
    return Finding(
        code=StaleAllowlistEntry.code,
        path=allowlist,
        span=Span(line, 0, line, 1),
        severity=StaleAllowlistEntry.severity,
        message=f"allowlist entry '{entry}' is {why}",
        symbol=entry,
        detail=why,
        fix=Fix("run `hwlint allowlist --update`"),
    )


RULES: tuple[type[Rule], ...] = (UnreadableFile, UnusedSuppression, StaleAllowlistEntry)
