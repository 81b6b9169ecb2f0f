"""Before against after, per device: kept, changed, lost, moved, new and unlocked tests."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hwlint.verify.matching import NO_RENAMES, match_tests
from hwlint.verify.model import LoadedTest, Outcome, OutcomeKind, Run


class ChangeKind(str, enum.Enum):
    """What a change did to one test on one device."""

    KEPT = "kept"
    WORSE = "worse"
    BETTER = "better"
    FLAKY = "flaky"
    LOST = "lost"
    MOVED = "moved"
    NEW = "new"
    NEW_FAILING = "new and failing"

    @property
    def is_bad(self) -> bool:
        return self in (ChangeKind.WORSE, ChangeKind.LOST, ChangeKind.NEW_FAILING)


@dataclass(frozen=True, slots=True)
class Change:
    """One test on one device. ``before`` or ``after`` is empty where it did not exist there.

    ``unlocked``: no device but CUDA could run it before, and it passes now.
    """

    kind: ChangeKind
    device: str
    before: str
    after: str
    outcome_before: Outcome | None
    outcome_after: Outcome | None
    unlocked: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """One file on one device: the changes, and how many tests had which outcome on each side."""

    file: str
    device: str
    changes: tuple[Change, ...]
    counts_before: Mapping[str, int]
    counts_after: Mapping[str, int]

    def count(self, kind: ChangeKind) -> int:
        return sum(change.kind is kind for change in self.changes)

    @property
    def unlocked(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.unlocked)

    @property
    def is_bad(self) -> bool:
        return any(change.kind.is_bad for change in self.changes)


def compare_runs(before: Run, after: Run, renames: Mapping[str, str] = NO_RENAMES) -> Comparison:
    """Compare the two runs of one file on one device; see ``finish`` for what needs the other devices' runs."""
    matching = match_tests(before.tests, after.tests, renames)
    changes = []
    for match in matching.matches:
        old = before.outcome(match.before)
        if not match.after:
            changes.append(Change(ChangeKind.LOST, after.device, match.before.name, "", old, None))
        for test in match.after:
            new = after.outcome(test)
            changes.append(Change(judge(old, new), after.device, match.before.name, test.name, old, new))
    for test in matching.new:
        new = after.outcome(test)
        kind = ChangeKind.NEW_FAILING if new.kind.is_bad else ChangeKind.NEW
        changes.append(Change(kind, after.device, "", test.name, None, new))
    return Comparison(after.file, after.device, tuple(changes), count_outcomes(before), count_outcomes(after))


def judge(before: Outcome, after: Outcome) -> ChangeKind:
    """Whether an outcome was kept or got worse or better: a pass ranks over a skip, a skip over a failure, a failure
    over a crash, hang or the like."""
    if before.kind is after.kind or before.kind.rank == after.kind.rank:
        return ChangeKind.KEPT
    return ChangeKind.WORSE if after.kind.rank < before.kind.rank else ChangeKind.BETTER


def count_outcomes(run: Run) -> Mapping[str, int]:
    return dict(Counter(run.outcome(test).kind.value for test in run.tests))


def finish(
    comparisons: Sequence[Comparison], before: Sequence[Run], after: Sequence[Run],
    templates_before: Collection[tuple[str, str]], renames: Mapping[str, str] = NO_RENAMES,
    templates_after: Collection[tuple[str, str]] = (),
) -> tuple[Comparison, ...]:  # fmt: skip
    """Settle what one device's runs cannot say alone, for the comparisons of one file.

    A test that was skipped on a device and is gone from it is *moved*, not lost, if another device has it now, or the
    file still defines it: for a device that is not among these, in a class that was split off perhaps. A test that
    passes now is *unlocked* if it existed before and passed on none of the devices: it was skipped there, or only
    another device's variant of it was made.

    Args:
        templates_before, templates_after: (class, test) pairs that the file defines in its text.
    """
    passed_before = {test.template for run in before for test in run.tests if run.outcome(test).kind.is_good}
    after_tests = {test.name: test for run in after for test in run.tests}
    return tuple(
        replace(
            comparison,
            changes=tuple(
                _settle(
                    change,
                    comparison,
                    before,
                    after,
                    after_tests,
                    passed_before,
                    templates_before,
                    renames,
                    templates_after,
                )  # fmt: skip
                for change in comparison.changes
            ),
        )
        for comparison in comparisons
    )


def _settle(
    change: Change, comparison: Comparison, before: Sequence[Run], after: Sequence[Run],
    after_tests: Mapping[str, LoadedTest], passed_before: Collection[tuple[str, str]],
    templates_before: Collection[tuple[str, str]], renames: Mapping[str, str],
    templates_after: Collection[tuple[str, str]],
) -> Change:  # fmt: skip
    if change.kind is ChangeKind.LOST:
        skipped = change.outcome_before is not None and change.outcome_before.kind is OutcomeKind.SKIPPED
        gone = [t for run in before if run.device == comparison.device for t in run.tests if t.name == change.before]
        others = [t for run in after if run.device != comparison.device for t in run.tests]
        if skipped and (
            any(match.after for match in match_tests(gone, others, renames).matches)
            or any(_is_made_from(t, name, method) for t in gone for name, method in templates_after)
        ):
            return replace(change, kind=ChangeKind.MOVED)
        return change
    if change.outcome_after is None or change.outcome_after.kind is not OutcomeKind.PASSED:
        return change
    test = after_tests[change.after]
    originals = {test.template} | {
        other.template for run in before for other in run.tests if other.name == change.before
    }
    existed = bool(change.before) or _is_defined(test, templates_before, renames)
    ran = any(original in passed_before for original in originals)
    return replace(change, unlocked=test.device_type not in (None, "cpu") and existed and not ran)


def _is_made_from(test: LoadedTest, name: str, method: str) -> bool:
    """Whether the test comes from that method of that class, or of the one it was split off from."""
    return name.startswith(test.template_class) and _is_method(test, method)


def _is_method(test: LoadedTest, method: str) -> bool:
    return test.template_test == method or test.template_test.startswith(method + "_")


def _is_defined(test: LoadedTest, templates: Collection[tuple[str, str]], renames: Mapping[str, str]) -> bool:
    backwards = {new: old for old, new in renames.items()}
    classes = {test.template_class, backwards.get(test.template_class, test.template_class)}
    return any(name in classes and _is_method(test, method) for name, method in templates)
