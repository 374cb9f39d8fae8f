"""Schedules that need no data: the published numbers, and what must hold for any problem."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureshot.theory.budgets import (
    fewest_pulls_of_halving,
    fewest_pulls_of_rejects,
    successive_halving,
    successive_rejects,
)
from sureshot.theory.elimination import Lists, exponential_gap, median_elimination
from sureshot.theory.radii import deviation

arms = st.integers(2, 3000)
epsilons = st.floats(1e-3, 1)
deltas = st.floats(1e-9, 0.9)


@given(n_arms=arms, epsilon=epsilons, delta=deltas, width=st.floats(0.1, 10))
def test_median_elimination_as_published(
    n_arms: int, epsilon: float, delta: float, width: float
) -> None:
    rounds = median_elimination(n_arms, epsilon, -math.log(delta), width)
    assert [this.arms for this in rounds] == [n_arms, *(this.keep for this in rounds[:-1])]
    assert rounds[-1].keep == 1
    for number, this in enumerate(rounds, 1):
        epsilon_l, delta_l = epsilon / 4 * 0.75 ** (number - 1), delta / 2**number
        assert this.keep == math.ceil(this.arms / 2)
        assert this.epsilon == pytest.approx(epsilon_l)
        wanted = (width / (epsilon_l / 2)) ** 2 * math.log(3 / delta_l)
        assert this.pulls == pytest.approx(math.ceil(wanted), rel=1e-9, abs=1)
    assert sum(this.epsilon for this in rounds) <= epsilon
    # The rest of delta is for stopping early.
    assert sum(5 * math.exp(-2 * (this.log_inverse_delta + math.log(3))) for this in rounds) < (
        0.2 * delta
    )


@given(n_arms=arms, epsilon=epsilons, delta=deltas, n_rewards=st.integers(1, 10**5))
def test_median_elimination_without_replacement(
    n_arms: int, epsilon: float, delta: float, n_rewards: int
) -> None:
    lists = Lists(n_rewards, n_rewards)
    rounds = median_elimination(n_arms, epsilon, -math.log(delta), 1.0, lists)
    published = median_elimination(n_arms, epsilon, -math.log(delta), 1.0)
    unread = n_rewards
    for this, plain in zip(rounds, published, strict=True):
        assert this.pulls <= min(plain.pulls, unread)
        level = 2 * (this.log_inverse_delta + math.log(3))
        if unread:
            part = unread / n_rewards
            error = part * deviation(int(this.pulls), 1.0, level, unread)
            assert error <= this.epsilon / 2 * (1 + 1e-9)
        unread -= int(this.pulls)
    assert unread >= 0


@given(number=st.integers(1, 20), delta=deltas, width=st.floats(0.1, 10))
def test_exponential_gap_as_published(number: int, delta: float, width: float) -> None:
    this = exponential_gap(number, -math.log(delta), width)
    epsilon_r, delta_r = 2.0**-number / 4, delta / (50 * number**3)
    assert this.epsilon == pytest.approx(width * epsilon_r)
    assert math.exp(-this.log_inverse_delta) == pytest.approx(delta_r)
    assert this.pulls == pytest.approx(
        math.ceil(2 / epsilon_r**2 * math.log(2 / delta_r)), rel=1e-9, abs=1
    )
    within = exponential_gap(number, -math.log(delta), width, Lists(1000, 400))
    assert within.pulls <= min(400, this.pulls)


def test_what_exponential_gap_leaves_of_delta() -> None:
    # 1.5 delta_r for the two estimates, two ways for absolute values, and delta_r for the reference.
    spent = sum(2.5 / (50 * r**3) for r in range(1, 10_000)) + 2.5 / 50 / 10_000**2
    assert spent < 0.1


@given(n_arms=st.integers(1, 2000), more=st.integers(0, 10**6))
def test_successive_halving_keeps_its_budget(n_arms: int, more: int) -> None:
    budget = fewest_pulls_of_halving(n_arms) + more
    rounds = successive_halving(n_arms, budget)
    assert len(rounds) == math.ceil(math.log2(n_arms))
    assert sum(this.arms * this.pulls for this in rounds) <= budget
    assert all(this.pulls >= 1 for this in rounds)
    assert n_arms == 1 or rounds[-1].keep == 1


@given(n_arms=st.integers(2, 500), more=st.integers(0, 10**6))
def test_successive_rejects_keeps_its_budget(n_arms: int, more: int) -> None:
    budget = fewest_pulls_of_rejects(n_arms) + more
    phases = successive_rejects(n_arms, budget)
    assert len(phases) == n_arms - 1
    assert phases[0] >= 1
    assert list(phases) == sorted(phases)
    # The arm that goes in each phase, and the last one, which has as many as the one before.
    assert sum(phases) + phases[-1] <= budget


@given(n_arms=st.integers(2, 500))
def test_a_smaller_budget_leaves_an_arm_without_a_pull(n_arms: int) -> None:
    assert successive_halving(n_arms, fewest_pulls_of_halving(n_arms) - 1)[0].pulls == 0
    assert successive_rejects(n_arms, fewest_pulls_of_rejects(n_arms) - 1)[0] == 0


def test_one_arm_takes_one_pull() -> None:
    assert fewest_pulls_of_halving(1) == fewest_pulls_of_rejects(1) == 1


def test_successive_rejects_by_hand() -> None:
    # logbar(3) = 1/2 + 1/2 + 1/3.
    expected = [math.ceil(297 / (4 / 3) / 3), math.ceil(297 / (4 / 3) / 2)]
    assert list(successive_rejects(3, 300)) == expected
