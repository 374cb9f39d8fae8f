"""The schedule that spends a budget on fewer and fewer arms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureshot.theory.narrowing import KEPT, POWER, NarrowRound, narrowing

SIZES = st.integers(1, 3000)


def pulls_of(rounds: tuple[NarrowRound, ...]) -> list[int]:
    """Return how many pulls the arms of each round have together."""
    before = [0, *(this.pulls for this in rounds)]
    return [this.arms * (this.pulls - last) for this, last in zip(rounds, before, strict=False)]


@given(SIZES, SIZES, st.integers(1, 20), st.floats(0, 1.2))
def test_a_schedule_keeps_its_budget_and_its_arms(
    n_arms: int, n_rewards: int, k: int, share: float
) -> None:
    budget = share * n_arms * n_rewards
    rounds = narrowing(n_arms, n_rewards, k, budget)
    assert sum(pulls_of(rounds)) <= budget
    assert all(0 < this.pulls <= n_rewards for this in rounds)
    assert all(k <= this.arms < n_arms for this in rounds)
    assert all(
        later.arms < this.arms and later.pulls > this.pulls for this, later in pairwise(rounds)
    )


@given(st.integers(50, 3000), st.integers(500, 5000), st.floats(0.05, 0.95))
def test_nearly_all_of_the_budget_is_spent(n_arms: int, n_rewards: int, share: float) -> None:
    """What is left is less than a pull of each arm in each round, or every arm kept is read to the end."""
    budget = share * n_arms * n_rewards
    rounds = narrowing(n_arms, n_rewards, 5, budget)
    whole = rounds[0].pulls == n_rewards
    assert whole or sum(pulls_of(rounds)) >= budget - n_arms


def test_rounds_keep_and_spend_what_they_should() -> None:
    rounds = narrowing(10_000, 10**7, 5, 1e8)
    assert rounds[-1].arms == 5
    arms = np.array([this.arms for this in rounds])
    np.testing.assert_array_equal(arms[1:], np.maximum(5, np.floor(KEPT * arms[:-1])))
    np.testing.assert_allclose(pulls_of(rounds) / arms**POWER, 1e8 / (arms**POWER).sum(), rtol=0.01)


def test_lists_that_end_leave_the_budget_to_others() -> None:
    """Where the last arms are read to the end, the first rounds get what these do not need."""
    short, long = narrowing(1000, 1000, 5, 4e5), narrowing(1000, 10**6, 5, 4e5)
    assert short[-1].pulls == 1000
    assert short[-1].arms > 5
    assert short[0].pulls > long[0].pulls


def test_all_arms_may_come_first() -> None:
    rounds = narrowing(1000, 500, 5, 1e5, all_first=True)
    assert [this.arms for this in rounds[:3]] == [1000, 800, 640]
    assert 0.97e5 <= sum(pulls_of(rounds)) <= 1e5


@pytest.mark.parametrize(
    ("n_arms", "n_rewards", "budget"), [(5, 100, 50.0), (9, 0, 50.0), (9, 9, 0.0), (9, 9, -3.0)]
)
def test_nothing_to_spend_or_to_spend_it_on(n_arms: int, n_rewards: int, budget: float) -> None:
    assert narrowing(n_arms, n_rewards, 5, budget) == ()
