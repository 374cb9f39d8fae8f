from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureshot.theory.concentration import pulls_formula
from sureshot.theory.schedule import bounded_me, sample_size

problems = st.fixed_dictionaries(
    {
        "n_arms": st.integers(min_value=1, max_value=3000),
        "n_rewards": st.integers(min_value=1, max_value=3000),
        "k": st.integers(min_value=1, max_value=50),
        "epsilon": st.one_of(st.just(0.0), st.floats(min_value=1e-300, max_value=10)),
        "delta": st.floats(min_value=1e-6, max_value=0.99),
        "width": st.floats(min_value=1e-3, max_value=1e3),
    }
)


@given(problem=problems)
def test_a_schedule_keeps_its_promises(problem: dict[str, float]) -> None:
    n_arms, n_rewards, k = int(problem["n_arms"]), int(problem["n_rewards"]), int(problem["k"])
    epsilon, delta, width = problem["epsilon"], problem["delta"], problem["width"]
    rounds = bounded_me(n_arms, n_rewards, k, epsilon, delta, width)
    assert sum(r.epsilon for r in rounds) <= epsilon
    assert sum(r.delta for r in rounds) <= delta
    pulls, arms = 0, n_arms
    for r in rounds:
        assert r.arms == arms
        assert 1 <= r.pulls <= n_rewards
        assert r.pulls >= pulls
        assert k <= r.keep < r.arms
        assert r.arms - r.keep == math.ceil((r.arms - k) / 2)
        pulls, arms = r.pulls, r.keep
    assert arms == min(n_arms, k)
    if epsilon == 0:
        assert all(r.pulls == n_rewards for r in rounds)


@pytest.mark.parametrize(
    ("epsilon", "percent"), [(0.05, 51.109), (0.1, 24.648), (0.2, 9.584), (0.4, 3.283)]
)
def test_share_of_pulls_at_the_size_of_the_paper(epsilon: float, percent: float) -> None:
    n_arms, n_rewards, k = 10_000, 100_000, 5
    pulls = before = real = real_before = 0.0
    for r in bounded_me(n_arms, n_rewards, k, epsilon, 0.1, 1.0):
        m = pulls_formula(sample_size(r.arms, k, r.epsilon, r.delta, 1.0), n_rewards)
        pulls += r.arms * (r.pulls - before)
        real += r.arms * (m - real_before)
        before, real_before = r.pulls, m
    assert round(100 * pulls / (n_arms * n_rewards), 3) == percent
    # Rounding up costs less than one pull of each arm in each round.
    assert real <= pulls < real + 2 * n_arms


def test_the_range_enters_the_schedule() -> None:
    narrow = bounded_me(100, 10_000, 5, 0.5, 0.1, 1.0)
    wide = bounded_me(100, 10_000, 5, 0.5, 0.1, 2.0)
    assert wide[0].pulls > 3 * narrow[0].pulls
