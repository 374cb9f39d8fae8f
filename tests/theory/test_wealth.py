"""Bets in numpy: what the tests compare the native ones with."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sureshot.theory import wealth

STEPS, ARMS, LENGTH = 60, 12, 200.0
LEVEL = math.log(20)


def drawn_bets() -> wealth.Bets:
    """Return bets on uniform rewards that all weigh the same."""
    y = np.random.default_rng(3).uniform(-1, 1, (STEPS, ARMS))
    left = LENGTH - np.arange(STEPS, dtype=np.float64)[:, None]
    known = wealth.before(y)
    return wealth.range_bets(y, known, left, np.full((1, ARMS), 40.0), np.ones(ARMS))


def test_upper_limits_are_where_the_level_is_reached() -> None:
    bets = drawn_bets()
    found = wealth.upper_limits(bets, LEVEL, np.full(ARMS, -LENGTH), np.full(ARMS, LENGTH))
    assert (found < LENGTH).all()
    assert (wealth.peak_log_wealth(bets, found) >= LEVEL).all()
    assert (wealth.peak_log_wealth(bets, found - 1e-6) < LEVEL).all()
    certain = found - 1
    kept = wealth.upper_limits(bets, LEVEL, np.full(ARMS, LENGTH), certain)
    np.testing.assert_array_equal(kept, certain)  # even if the estimate is above it


def test_stakes_are_those_of_the_largest_growth_to_second_order() -> None:
    distance, variance = np.full((9, 1), 0.5), np.full((9, 1), 0.25)
    found = wealth.stakes(distance, variance)
    assert found[:4, 0].tolist() == [0, 0, 0, 0]  # too early for an estimate
    assert found[4:, 0].tolist() == pytest.approx([1.0] * 5)
    assert not wealth.stakes(0 * distance, variance).any()
    least = wealth.stakes(0 * distance, variance, floor=0.3)
    assert least[4:, 0].tolist() == pytest.approx([0.6] * 5)


def test_the_score_is_certain_where_it_would_need_more_than_the_limit() -> None:
    bets = drawn_bets()
    most = float(np.max(bets.left * (bets.cap + bets.offset)))
    assert np.isinf(wealth.log_wealth(bets, np.full(ARMS, most + 1e-9))).any(axis=0).all()
    assert np.isfinite(wealth.log_wealth(bets, np.full(ARMS, 0.0))).all()
