"""The budget of a search: what may still be read, and for how long."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from sureshot.search.budget import UNLIMITED, Budget, deadline_in, numbers_of
from sureshot.search.problem import Tally

LONG_AGO, NEVER = -1.0e9, 1.0e18  # on any clock that starts with the machine


def budget(numbers: int | None, deadline: float | None, tally: Tally, **more: Any) -> Budget:
    problem: Any = SimpleNamespace(budget=numbers, deadline=deadline)
    return Budget(problem, tally, **more)


def test_without_limits_everything_is_allowed() -> None:
    free = budget(None, None, Tally())
    assert free.left is None
    assert not free.late()
    assert free.affordable() == UNLIMITED
    assert free.allows(1e15)


def test_numbers_read_before_the_search_do_not_count() -> None:
    tally = Tally()
    tally.numbers_read = 1000  # by a scan
    limited = budget(50, NEVER, tally)
    assert limited.left == limited.affordable() == 50
    tally.numbers_read += 30
    assert limited.left == limited.affordable() == 20
    assert limited.allows(20)
    assert not limited.allows(21)
    tally.numbers_read += 100  # the answers are evaluated on top of a budget
    assert limited.left == limited.affordable() == 0


def test_nothing_is_affordable_when_it_is_late() -> None:
    late = budget(50, LONG_AGO, Tally())
    assert late.late()
    assert late.left == 50
    assert late.affordable() == 0
    assert not late.allows(1)
    assert late.allows(0)


def test_a_search_that_always_starts_is_late_after_its_first_number() -> None:
    tally = Tally()
    starting = budget(None, LONG_AGO, tally, always_starts=True)
    assert not starting.late()
    assert starting.allows(7)
    tally.numbers_read += 1
    assert starting.late()
    assert not starting.allows(1)


def test_a_part_of_a_budget() -> None:
    tally = Tally()
    limited = budget(100, None, tally)
    tally.numbers_read += 15
    assert limited.predicted(0.2) == 5
    assert limited.predicted() == 85
    tally.numbers_read += 15
    assert limited.predicted(0.2) == 0
    assert budget(None, None, tally).predicted(0.1) == UNLIMITED


def test_what_there_is_time_for_is_predicted_from_the_speed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 10.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    tally = Tally()
    timed = budget(None, 20.0, tally)
    assert timed.predicted(0.5) == UNLIMITED  # nothing was read, so nothing is known
    now, tally.numbers_read = 12.0, 40
    assert timed.predicted(0.5) == 60
    assert timed.predicted() == 160
    assert budget(1000, 20.0, Tally()).predicted() == 1000
    now = 15.5
    assert timed.predicted(0.5) == 0


@pytest.mark.parametrize(("share", "numbers"), [(None, None), (0.5, 50), (0.999, 99), (1.0, 100)])
def test_a_share_is_rounded_down(share: float | None, numbers: int | None) -> None:
    assert numbers_of(share, 100) == numbers


def test_a_deadline_is_that_many_seconds_ahead() -> None:
    assert deadline_in(None) is None
    before = time.perf_counter()
    deadline = deadline_in(1000.0)
    assert deadline is not None
    assert before + 1000 <= deadline <= time.perf_counter() + 1000
