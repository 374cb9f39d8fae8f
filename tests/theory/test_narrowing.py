"""The schedule that spends a budget on fewer and fewer arms."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureshot.theory.narrowing import LEAST_POWER, SPACING, Limit, NarrowRound, narrowing

if TYPE_CHECKING:
    from sureshot._types import Floats

SIZES = st.integers(1, 3000)


def pulls_of(rounds: tuple[NarrowRound, ...]) -> list[int]:
    """Return how many pulls the arms of each round have together."""
    before = [0, *(this.pulls for this in rounds)]
    return [this.arms * (this.pulls - last) for this, last in zip(rounds, before, strict=False)]


@given(SIZES, SIZES, st.integers(1, 20), st.floats(0, 1.2), st.integers(1, 30), st.floats(0, 1))
def test_a_schedule_keeps_its_budget_and_its_arms(
    n_arms: int, n_rewards: int, k: int, share: float, how_many: int, known: float
) -> None:
    budget, before = share * n_arms * n_rewards, int(known * n_rewards)
    rounds = narrowing(n_arms, n_rewards, k, [Limit(budget)], rounds=how_many, before=before)
    assert len(rounds) <= how_many
    assert sum(pulls_of(rounds)) <= budget * (1 + 1e-12)
    assert all(0 < this.pulls <= n_rewards - before for this in rounds)
    assert all(k < this.arms <= n_arms for this in rounds)
    assert all(
        later.arms < this.arms and later.pulls > this.pulls for this, later in pairwise(rounds)
    )


@given(st.integers(50, 3000), st.integers(500, 5000), st.floats(0.05, 0.95))
def test_nearly_all_of_the_budget_is_spent(n_arms: int, n_rewards: int, share: float) -> None:
    """What is left is less than a pull of each arm in each round, or every arm is read to the end."""
    budget = share * n_arms * n_rewards
    rounds = narrowing(n_arms, n_rewards, 5, [Limit(budget)])
    assert sum(pulls_of(rounds)) >= budget - n_arms


def test_rounds_keep_and_spend_what_they_should() -> None:
    rounds = narrowing(10_000, 10**7, 5, [Limit(1e8)], rounds=20)
    arms = np.array([this.arms for this in rounds], dtype=np.float64)
    assert arms[0] == 10_000
    steps = np.diff(arms**SPACING)
    np.testing.assert_allclose(steps, steps[0], rtol=0.05)  # arms are whole
    # The budget is a thousandth of all pulls.
    wanted = arms ** (LEAST_POWER + 0.001) * np.log(arms / np.append(arms[1:], 5))
    np.testing.assert_allclose(pulls_of(rounds), 1e8 * wanted / wanted.sum(), rtol=0.01)


def test_lists_that_end_leave_the_budget_to_others() -> None:
    """Where the last arms are read to the end, the first rounds get what these do not need."""
    short, long = (narrowing(1000, width, 5, [Limit(4e5)]) for width in (1000, 10**6))
    assert short[-1].pulls == 1000
    assert short[0].pulls > long[0].pulls


def test_pulls_before_the_schedule_are_not_made_again() -> None:
    fresh = narrowing(1000, 500, 5, [Limit(1e5)])
    later = narrowing(1000, 500, 5, [Limit(1e5 - 20 * 1000)], before=20)
    assert later[0].arms < 1000
    assert later[-1].pulls == pytest.approx(fresh[-1].pulls - 20, abs=15)


def test_the_narrowest_limit_counts() -> None:
    def twice(arms: Floats) -> Floats:
        return 2 * arms

    wide, narrow = Limit(1e5), Limit(1e5, twice)
    rounds = narrowing(1000, 500, 5, [wide, narrow])
    assert 4.8e4 < sum(pulls_of(rounds)) <= 5e4


def column(arms: Floats) -> Floats:
    """Return what a piece costs where that of a few arms costs as much as a whole column."""
    return (20 * arms).clip(max=1000.0)


def test_where_few_arms_cost_as_much_as_many_more_arms_are_kept() -> None:
    """A second limit leaves half of the pulls, unless more arms are kept where that costs no more."""
    pulls, time = 2e5, 4e5
    usual = narrowing(1000, 500, 5, [Limit(pulls)])
    flat = narrowing(1000, 500, 5, [Limit(pulls), Limit(time, column)])
    assert 0.95 * pulls < sum(pulls_of(flat)) <= pulls
    arms = np.array([this.arms for this in flat], dtype=np.float64)
    fresh = np.diff([0, *(this.pulls for this in flat)])
    assert 0.95 * time < (column(arms) * fresh).sum() <= time
    assert flat[-1].pulls == usual[-1].pulls == 500
    half = [next(this.arms for this in rounds if this.pulls > 250) for rounds in (flat, usual)]
    assert half[0] > half[1]


def test_where_nothing_is_saved_all_arms_are_kept() -> None:
    """With pulls enough, every arm is read until few cost less."""
    rounds = narrowing(1000, 500, 5, [Limit(5e5), Limit(4e5, column)])
    assert rounds[0].arms == 1000
    assert all(this.arms < 50 for this in rounds[1:])
    assert rounds[0].pulls > 250


def test_a_second_limit_that_leaves_no_pulls_changes_nothing() -> None:
    usual = narrowing(1000, 500, 5, [Limit(1e5)])
    assert narrowing(1000, 500, 5, [Limit(1e5), Limit(1e9, column)]) == usual


@pytest.mark.parametrize(
    ("n_arms", "n_rewards", "budget"), [(5, 100, 50.0), (9, 0, 50.0), (9, 9, 0.0), (9, 9, -3.0)]
)
def test_nothing_to_spend_or_to_spend_it_on(n_arms: int, n_rewards: int, budget: float) -> None:
    assert narrowing(n_arms, n_rewards, 5, [Limit(budget)]) == ()
