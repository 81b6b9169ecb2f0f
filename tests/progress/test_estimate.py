from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwlint.progress.history.estimate import WEEK, Estimate, estimate, weekly_changes
from hwlint.progress.render.tables import estimate_lines

START = 1_767_600_000


def weekly(values: list[int]) -> Estimate:
    return estimate([START + at * WEEK for at in range(len(values))], values)


def test_a_steady_fall_is_drawn_on() -> None:
    found = weekly([100, 90, 80, 70, 60, 50, 40])
    assert (found.remaining, found.per_week, found.weeks, found.reason) == (40, -10.0, 6, "")
    assert found.earliest == found.median == found.latest == "2026-03-16"


def test_the_range_is_wider_where_the_past_is_uneven() -> None:
    even = weekly([200 - 5 * at for at in range(25)])
    uneven = weekly([200 - 5 * at + (20 if at % 7 < 3 and at < 24 else 0) for at in range(25)])
    assert even.remaining == uneven.remaining

    def days(found: Estimate) -> int:
        return (date.fromisoformat(found.latest) - date.fromisoformat(found.earliest)).days

    assert days(uneven) > days(even)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "there is no point to judge from"),
        ([9, 5, 0], "zero is reached"),
        ([9, 8, 7, 6], "the history covers 3 whole weeks; an estimate needs 6"),
        ([90, 90, 90, 20, 20, 20, 20, 20], "the count fell in 1 of 7 weeks; an estimate needs 3"),
        ([50, 48, 60, 55, 70, 65, 80, 79], "the count has not fallen over the 7 weeks looked at"),
    ],
)
def test_data_that_carry_no_estimate_say_so(values: list[int], reason: str) -> None:
    found = weekly(values)
    assert found.reason == reason
    assert (found.earliest, found.median, found.latest) == ("", "", "")


def test_a_pace_that_takes_too_long_is_no_estimate() -> None:
    values = [100_000 - at // 3 for at in range(20)]
    assert "within ten years" in weekly(values).reason


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (Estimate(0, 0.0, 9, reason="zero is reached"), "Classes: none to go."),
        (Estimate(5, -1.0, 2, reason="too short"), "No estimate: too short."),
        (
            Estimate(5, -1.0, 9, "2027-01-08", "2027-01-01", "2027-02-01", 1.0),
            "Zero is reached between 2027-01-01 and 2027-02-01 in 80 of 100 simulated courses, "
            "half of them by 2027-01-08.",
        ),
        (
            Estimate(5, -1.0, 9, "2027-01-08", "2027-01-08", "2027-01-08", 1.0),
            "Zero is reached about 2027-01-08 in 80 of 100 simulated courses.",
        ),
        (
            Estimate(5, -1.0, 9, "2030-01-08", "2027-01-08", "", 0.8),
            "Of 100 simulated courses 90 reach zero after 2027-01-08: half of them by 2030-01-08, "
            "more than 10 not within ten years.",
        ),
    ],
)
def test_estimates_in_words(found: Estimate, sentence: str) -> None:
    assert estimate_lines("Classes", found)[-1] == sentence


def test_commits_between_weeks_count_for_their_week() -> None:
    times = [START, START + WEEK // 2, START + WEEK, START + 3 * WEEK]
    assert weekly_changes(times, [10, 8, 7, 5]) == [-3, 0, -2]


@given(st.lists(st.tuples(st.integers(0, 40 * WEEK), st.integers(0, 500)), max_size=40))
def test_any_course_gives_a_range_in_order_or_a_reason(points: list[tuple[int, int]]) -> None:
    times, values = [START + t for t, _ in points], [v for _, v in points]
    found = estimate(times, values)
    assert found == estimate(times, values)
    if found.reason:
        assert found.median == ""
    else:
        assert found.earliest <= found.median
        assert found.latest == "" or found.median <= found.latest


@given(st.lists(st.tuples(st.integers(0, 3 * WEEK), st.integers(0, 50)), min_size=1, max_size=20))
def test_weekly_changes_add_up(points: list[tuple[int, int]]) -> None:
    times = [START]
    for step, _ in points[1:]:
        times.append(times[-1] + step)
    values = [v for _, v in points]
    changes = weekly_changes(times, values)
    assert len(changes) == (times[-1] - times[0]) // WEEK
    if changes:
        first = times[-1] - len(changes) * WEEK
        held = [v for t, v in zip(times, values) if t <= first]
        assert sum(changes) == values[-1] - held[-1]
