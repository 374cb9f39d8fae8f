from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureshot.theory.concentration import pulls_formula, pulls_needed, radius, rho


def smallest_valid(u: float, n_rewards: int) -> int:
    """The smallest m with m / rho_m >= u, by trying them all in exact arithmetic."""
    exact_u = Fraction(u)
    for m in range(1, n_rewards):
        left = Fraction(n_rewards - m, n_rewards)
        exact_rho = min(left + Fraction(1, n_rewards), left * (1 + Fraction(1, m)))
        if m >= exact_u * exact_rho:
            return m
    return n_rewards


@given(
    u=st.floats(min_value=1e-3, max_value=1e5),
    n_rewards=st.integers(min_value=1, max_value=400),
)
def test_pulls_are_never_below_brute_force_and_at_most_one_above(u: float, n_rewards: int) -> None:
    best = smallest_valid(u, n_rewards)
    assert best <= pulls_needed(u, n_rewards) <= best + 1


@given(u=st.integers(min_value=1, max_value=500), n_rewards=st.integers(min_value=1, max_value=300))
def test_pulls_at_whole_numbers_where_rounding_could_slip(u: int, n_rewards: int) -> None:
    best = smallest_valid(float(u), n_rewards)
    assert best <= pulls_needed(float(u), n_rewards) <= best + 1


@given(
    m=st.integers(min_value=1, max_value=10_000),
    n_rewards=st.integers(min_value=1, max_value=10_000),
    delta=st.floats(min_value=1e-6, max_value=0.99),
    epsilon=st.floats(min_value=1e-3, max_value=10.0),
    width=st.floats(min_value=1e-3, max_value=10.0),
)
def test_pulls_needed_bring_the_radius_down_to_epsilon(
    m: int, n_rewards: int, delta: float, epsilon: float, width: float
) -> None:
    u = width**2 * math.log(1 / delta) / (2 * epsilon**2)
    assert radius(pulls_needed(u, n_rewards), n_rewards, width, delta) <= epsilon * (1 + 1e-12)
    if m < n_rewards:
        assert radius(m, n_rewards, width, delta) > 0
        assert 0 < rho(m, n_rewards) <= 1


@pytest.mark.parametrize("n_rewards", [1, 7, 97, 1535])
def test_the_whole_list_has_no_error(n_rewards: int) -> None:
    assert radius(n_rewards, n_rewards, 1.0, 0.01) == 0.0
    assert pulls_needed(math.inf, n_rewards) == n_rewards
    assert pulls_needed(1e-12, n_rewards) == 1
    assert pulls_formula(math.inf, n_rewards) == n_rewards


@given(m=st.integers(1, 500), more=st.integers(0, 500))
def test_rho_is_the_published_one(m: int, more: int) -> None:
    """The smaller of (N - m + 1) / N and (N - m) (m + 1) / (N m)."""
    n_rewards = m + more
    without = Fraction(n_rewards - m + 1, n_rewards)
    other = Fraction((n_rewards - m) * (m + 1), n_rewards * m)
    assert rho(m, n_rewards) == pytest.approx(float(min(without, other)))


@pytest.mark.parametrize(
    ("u", "n_rewards", "expected"),
    [(100, 1000, 91), (2000, 1000, 667), (1, 10, 1), (5, 10, 5.5 / 1.5), (1000, 1000, 500.5)],
)
def test_the_published_number_of_pulls(u: float, n_rewards: int, expected: float) -> None:
    """The smaller of (u + 1) / (1 + u / N) and (u + u / N) / (1 + u / N)."""
    assert pulls_formula(u, n_rewards) == pytest.approx(expected)
