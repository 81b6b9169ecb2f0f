from __future__ import annotations

import pytest

from hwlint.verify.compare import ChangeKind, compare_runs, finish, judge
from hwlint.verify.model import LoadedTest, Outcome, OutcomeKind, Run, Side


def loaded(name: str, device: str | None = None, template: str | None = None) -> LoadedTest:
    class_name, _, method = name.rpartition(".")
    template_class, _, template_test = (template or name).rpartition(".")
    return LoadedTest(f"__main__.{name}", class_name, method, device, template_class, template_test)


def run(side: Side, device: str, **outcomes: tuple[LoadedTest, OutcomeKind]) -> Run:
    tests = tuple(test for test, _ in outcomes.values())
    return Run("test_a.py", side, device, tests, {test.id: Outcome(kind) for test, kind in outcomes.values()}, ())


PASSED, SKIPPED, FAILED = OutcomeKind.PASSED, OutcomeKind.SKIPPED, OutcomeKind.FAILED
PLAIN = loaded("TestA.test_x")
ON_CPU = loaded("TestACPU.test_x_cpu", "cpu", "TestA.test_x")
ON_REFERENCE = loaded("TestAPRIVATEUSE1.test_x_refdev", "refdev", "TestA.test_x")


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (PASSED, PASSED, ChangeKind.KEPT),
        (PASSED, OutcomeKind.EXPECTED_FAILURE, ChangeKind.KEPT),
        (FAILED, OutcomeKind.ERROR, ChangeKind.KEPT),
        (PASSED, SKIPPED, ChangeKind.WORSE),
        (SKIPPED, FAILED, ChangeKind.WORSE),
        (FAILED, OutcomeKind.CRASHED, ChangeKind.WORSE),
        (SKIPPED, PASSED, ChangeKind.BETTER),
        (OutcomeKind.TIMED_OUT, FAILED, ChangeKind.BETTER),
    ],
)
def test_judge(before: OutcomeKind, after: OutcomeKind, change: ChangeKind) -> None:
    assert judge(Outcome(before), Outcome(after)) is change


def test_counts_and_kinds() -> None:
    before = run(Side.BEFORE, "cpu", a=(PLAIN, PASSED), b=(loaded("TestA.test_gone"), PASSED))
    after = run(Side.AFTER, "cpu", a=(ON_CPU, PASSED), c=(loaded("TestA.test_new"), FAILED))
    comparison = compare_runs(before, after)
    assert [change.kind for change in comparison.changes] == [
        ChangeKind.KEPT,
        ChangeKind.LOST,
        ChangeKind.NEW_FAILING,
    ]
    assert comparison.counts_before == {"passed": 2}
    assert comparison.counts_after == {"passed": 1, "failed": 1}
    assert comparison.is_bad


Templates = frozenset[tuple[str, str]]


def settle(
    before: list[Run], after: list[Run], templates: Templates = frozenset(), now: Templates = frozenset()
) -> dict[str, str]:
    by_device = {one.device: one for one in before}
    comparisons = [compare_runs(by_device[one.device], one) for one in after]
    return {
        f"{change.device} {change.after or change.before}": f"{change.kind.value}{' unlocked' * change.unlocked}"
        for comparison in finish(comparisons, before, after, templates, templates_after=now)
        for change in comparison.changes
    }


def test_unlocked_when_it_was_skipped_everywhere() -> None:
    before = [run(Side.BEFORE, device, a=(PLAIN, SKIPPED)) for device in ("cpu", "reference")]
    after = [run(Side.AFTER, "cpu", a=(ON_CPU, PASSED)), run(Side.AFTER, "reference", a=(ON_REFERENCE, PASSED))]
    assert settle(before, after) == {
        "cpu TestACPU.test_x_cpu": "better",
        "reference TestAPRIVATEUSE1.test_x_refdev": "better unlocked",
    }


def test_not_unlocked_when_the_cpu_ran_it() -> None:
    before = [run(Side.BEFORE, device, a=(PLAIN, PASSED)) for device in ("cpu", "reference")]
    after = [run(Side.AFTER, "cpu", a=(ON_CPU, PASSED)), run(Side.AFTER, "reference", a=(ON_REFERENCE, PASSED))]
    assert set(settle(before, after).values()) == {"kept"}


def test_unlocked_when_only_another_device_had_it() -> None:
    before = [run(Side.BEFORE, "reference")]
    after = [run(Side.AFTER, "reference", a=(ON_REFERENCE, PASSED))]
    name = "reference TestAPRIVATEUSE1.test_x_refdev"
    assert settle(before, after, frozenset({("TestA", "test_x")})) == {name: "new unlocked"}
    assert settle(before, after) == {name: "new"}


def test_moved_when_it_was_skipped_here_and_runs_elsewhere_now() -> None:
    before = [run(Side.BEFORE, device, a=(PLAIN, SKIPPED)) for device in ("cpu", "reference")]
    after = [run(Side.AFTER, "cpu"), run(Side.AFTER, "reference", a=(ON_REFERENCE, PASSED))]
    assert settle(before, after)["cpu TestA.test_x"] == "moved"


def test_moved_when_it_was_skipped_here_and_is_there_for_a_device_that_was_not_run() -> None:
    skipped, ran = ([run(Side.BEFORE, "cpu", a=(PLAIN, outcome))] for outcome in (SKIPPED, PASSED))
    after = [run(Side.AFTER, "cpu")]
    for name, kind in (("TestA", "moved"), ("TestACudaOnly", "moved"), ("TestB", "lost")):
        now = frozenset({(name, "test_x")})
        assert settle(skipped, after, now=now)["cpu TestA.test_x"] == kind
        assert settle(ran, after, now=now)["cpu TestA.test_x"] == "lost"


def test_lost_when_it_ran_here() -> None:
    before = [run(Side.BEFORE, device, a=(PLAIN, PASSED)) for device in ("cpu", "reference")]
    after = [run(Side.AFTER, "cpu"), run(Side.AFTER, "reference", a=(ON_REFERENCE, PASSED))]
    assert settle(before, after)["cpu TestA.test_x"] == "lost"


def test_not_run_is_worse() -> None:
    before = run(Side.BEFORE, "cpu", a=(PLAIN, PASSED))
    after = Run("test_a.py", Side.AFTER, "cpu", (PLAIN,), {}, ())
    assert compare_runs(before, after).changes[0].kind is ChangeKind.WORSE
