"""When a burn-down reaches zero, as far as its own past tells.

The past's weekly changes are drawn again and again, some weeks in a row at a time so that busy and quiet spells stay
together, until nothing is left: a moving-block bootstrap of the throughput. What most of the runs agree on is the
range. Nothing is assumed of the future but that its weeks are like those of the past, and where the past is too short
or does not fall, that is said instead.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import ceil

WEEK = 7 * 86400
MIN_WEEKS = 6
MIN_FALLS = 3
"""Weeks in which something went down: from fewer, one great step would be the whole forecast."""
RUNS = 1000
BLOCK = 4
"""Weeks drawn together."""
HORIZON = 520
"""Weeks after which a run counts as never arriving: ten years."""
SHARE = 0.8
"""Of the runs, how many the range holds."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the course says of its end. Dates are ISO dates, '' where there is none."""

    remaining: int
    per_week: float
    """Mean change of the weeks looked at; below zero where it falls."""
    weeks: int
    """How many weeks of the past it is from."""
    median: str = ""
    earliest: str = ""
    latest: str = ""
    """Between ``earliest`` and ``latest`` lie 80 of 100 runs; ``latest`` is '' where more than 10 of 100 do not
    arrive.
    """
    reached: float = 0.0
    """Share of the runs that arrive within ten years."""
    reason: str = ""
    """Why there is no estimate; '' where there is one."""


def estimate(times: Sequence[int], values: Sequence[int], weeks: int = 0) -> Estimate:
    """From the state at each time (seconds since 1970, values not yet done). ``weeks``: how many of the last to look
    at, 0 for all.

    The same input gives the same result: the draws are seeded.
    """
    if not values:
        return Estimate(0, 0.0, 0, reason="there is no point to judge from")
    remaining = values[-1]
    steps = weekly_changes(times, values)
    steps = steps[-weeks:] if weeks else steps
    rate = sum(steps) / len(steps) if steps else 0.0
    found = Estimate(remaining, round(rate, 3), len(steps))
    reason = _why_not(remaining, steps)
    if reason:
        return replace(found, reason=reason)
    lengths = sorted(_runs(remaining, steps))
    low, high = (1 - SHARE) / 2, 1 - (1 - SHARE) / 2
    arrived = sum(length <= HORIZON for length in lengths)
    if lengths[RUNS // 2] > HORIZON:
        reason = f"at this pace {RUNS - arrived} of {RUNS} simulated courses do not reach zero within ten years"
        return replace(found, reached=arrived / RUNS, reason=reason)
    end = date(1970, 1, 1) + timedelta(seconds=max(times))
    return replace(
        found,
        median=_after(end, lengths[RUNS // 2]),
        earliest=_after(end, lengths[int(RUNS * low)]),
        latest=_after(end, lengths[ceil(RUNS * high) - 1]),
        reached=arrived / RUNS,
    )


def weekly_changes(times: Sequence[int], values: Sequence[int]) -> list[int]:
    """Change over each whole week before the last point, oldest first; between points the earlier one's value holds."""
    if not times:
        return []
    # A commit's clock may be behind its parent's.
    clock: list[int] = []
    for time in times:
        clock.append(max(time, clock[-1]) if clock else time)
    count = (clock[-1] - clock[0]) // WEEK
    ends = [clock[-1] - WEEK * back for back in range(count, -1, -1)]
    states = []
    at = 0
    for end in ends:
        while at + 1 < len(clock) and clock[at + 1] <= end:
            at += 1
        states.append(values[at])
    return [after - before for before, after in zip(states, states[1:])]


def _why_not(remaining: int, steps: Sequence[int]) -> str:
    if remaining == 0:
        return "zero is reached"
    if len(steps) < MIN_WEEKS:
        return f"the history covers {len(steps)} whole weeks; an estimate needs {MIN_WEEKS}"
    falls = sum(step < 0 for step in steps)
    if falls < MIN_FALLS:
        return f"the count fell in {falls} of {len(steps)} weeks; an estimate needs {MIN_FALLS}"
    if sum(steps) >= 0:
        return f"the count has not fallen over the {len(steps)} weeks looked at"
    return ""


def _runs(remaining: int, steps: Sequence[int]) -> list[int]:
    """Weeks that each simulated course takes; HORIZON + 1 for one that does not arrive."""
    draw = random.Random(0).random
    lengths = []
    for _ in range(RUNS):
        left, week = remaining, 0
        while left > 0 and week <= HORIZON:
            start = int(draw() * len(steps))
            for offset in range(BLOCK):
                left += steps[(start + offset) % len(steps)]
                week += 1
                if left <= 0:
                    break
        lengths.append(min(week, HORIZON + 1))
    return lengths


def _after(end: date, weeks: int) -> str:
    return (end + timedelta(weeks=weeks)).isoformat() if weeks <= HORIZON else ""
