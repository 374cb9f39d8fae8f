"""Races of rows of any length, and the proof that there were some.

Small data is read faster than it is raced, so `top_k` does not race it. Small tests of betting would then
test the exact product: in tests all rows from 1,024 coordinates on are raced; those of shorter rows ask for
`races`, which `tests/conftest.py` gives to all, or import `raced`, which then holds for every test of
their module. Tests of the choice itself ask for `costs_decide`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from sureshot._native import DROPPED
from sureshot.search.condition import fact
from sureshot.search.leaders import leaders
from sureshot.search.race import betting, choice
from sureshot.search.race.race import Race

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sureshot.search.condition import Condition
    from sureshot.search.problem import Answer
    from sureshot.theory.intervals import Intervals


def given(intervals: Intervals) -> Callable[[], tuple[Intervals, Condition]]:
    """Return what a problem knows of its rewards: these intervals, on no condition."""
    return lambda: (intervals, fact("none"))


@dataclass
class Course:
    """What is remembered of a race."""

    dropped: int = 0


LEAST_COST = choice.least_cost


def race_from(shortest_row: int, patch: pytest.MonkeyPatch) -> None:
    """Race rows that are at least so long, and no others, however many there are."""

    def least_cost(sizes: choice.Sizes, _rules: object, _n_begin: int | None = None) -> float:
        return 1e-9 if sizes.n_coordinates >= shortest_row else math.inf

    patch.setattr(choice, "least_cost", least_cost)


def race_any_size(patch: pytest.MonkeyPatch) -> None:
    """Race data of any size."""
    race_from(1, patch)


@pytest.fixture(scope="session", autouse=True)
def races_of_long_rows() -> Iterator[None]:
    """Race rows from 1,024 coordinates on in all tests: sizes that races are worth take too long."""
    with pytest.MonkeyPatch.context() as patch:
        race_from(1024, patch)
        yield


@pytest.fixture
def costs_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Race only where costs say that it can win, as for a user."""
    monkeypatch.setattr(choice, "least_cost", LEAST_COST)


@pytest.fixture(scope="module")
def races() -> Iterator[list[Course]]:
    """Race rows of any length, and list the races of this module and the searches of `leaders`."""
    courses: list[Course] = []

    class RememberedLeaders(leaders.LeaderSearch):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            courses.append(Course())

    class Remembered(Race):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.course = Course()
            courses.append(self.course)

        def answer(self) -> Answer:
            answer = super().answer()
            self.course.dropped = len(self.ledger.arms_with(DROPPED))
            return answer

    with pytest.MonkeyPatch.context() as patch:
        race_any_size(patch)
        patch.setattr(betting, "Race", Remembered)
        patch.setattr(leaders, "LeaderSearch", RememberedLeaders)
        yield courses


@pytest.fixture(autouse=True)
def raced(request: pytest.FixtureRequest, races: list[Course]) -> Iterator[None]:
    """Fail a test of betting in which nothing was raced, unless its mark says why that is right."""
    before = len(races)
    method, metric = (
        request.getfixturevalue(name) if name in request.fixturenames else None
        for name in ("method", "metric")
    )
    yield
    # Without norms a cosine is answered by the pass that finds them.
    to_be_raced = method == "betting" and metric != "cosine"
    if to_be_raced and request.node.get_closest_marker("no_race") is None:
        assert len(races) > before, "nothing was raced"
