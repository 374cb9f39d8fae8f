"""Bets with fixed stakes: the mathematics, tested on hostile lists, and its errors, planted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot.theory import mixture
from sureshot.theory.mixture import Draws
from tests.guarantee import assert_at_most
from tests.populations import DELTAS, RANGE, TRIALS, Walk, draw_orders, two_valued, walk

if TYPE_CHECKING:
    from sureshot._types import Floats

EQUAL_WEIGHTS = [name for name in RANGE if name != "log-normal weights"]


def population(name: str) -> Walk:
    rng = np.random.default_rng([1, len(name)])
    return walk(rng, *RANGE[name](rng))


def draws(y: Floats, cap: float = 1.0) -> Draws:
    return Draws(y, np.full(y.shape[1], len(y)), len(y), cap)


def assert_valid(peaks: Floats) -> None:
    for delta in DELTAS:
        assert_at_most(int((peaks >= 1 / delta).sum()), len(peaks), delta)


def assert_caught(peaks: Floats) -> None:
    with pytest.raises(AssertionError, match="promised"):
        assert_valid(peaks)


def below(y: Floats) -> Floats:
    """Return the sum of each column, a hair below, as the guard of a search is."""
    return np.full(y.shape[1], math.fsum(y[:, 0]) - 1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", EQUAL_WEIGHTS)
def test_the_wealth_at_the_true_sum(name: str, sign: float) -> None:
    y = sign * population(name).y
    assert_valid(draws(y).peak_wealth(below(y)))


@pytest.mark.parametrize("name", ["fair coin", "drifting ranks", "rare high rewards"])
def test_differences_of_two_arms_in_one_order(name: str) -> None:
    """Arms exactly epsilon apart, which must not be decided; lists that repel or follow each other."""
    rng = np.random.default_rng(2)
    sums, _ = RANGE[name](rng)
    for other in (np.roll(sums, 7), sums[::-1] - 0.05, -sums, np.sort(sums)):
        y = (sums - other)[draw_orders(rng, np.ones(len(sums)))]
        assert_valid(draws(y, cap=2.1).peak_wealth(below(y)))


def test_the_promise_is_nearly_used_up() -> None:
    y = population("fair coin").y
    assert (draws(y).peak_wealth(below(y)) >= 10).mean() > 0.05


def test_planted_stakes_that_see_the_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixture, "FACTORS_AT_ONCE", 10**9)
    y = population("fair coin").y
    planted = draws(y)
    theta = below(y)
    mean = (theta - planted.known) / planted.left
    planted.stakes = planted.stakes * np.where(y < mean, 1.2, 0.8)[:, :, None]
    assert_caught(planted.peak_wealth(theta))


def test_planted_the_best_stake_in_place_of_the_average() -> None:
    y = population("fair coin").y
    every = draws(y)
    best = np.ones(TRIALS)
    for one in range(every.stakes.shape[2]):
        alone = draws(y)
        alone.stakes = every.stakes[:, :, one : one + 1]
        best = np.maximum(best, alone.peak_wealth(below(y)))
    assert_caught(best)


def test_planted_a_cap_that_is_too_low() -> None:
    y = population("rare high rewards").y
    assert_caught(draws(np.minimum(y, 0.5), cap=0.5).peak_wealth(below(y)))


def test_the_peak_never_decreases_in_theta() -> None:
    some = draws(population("uniform").y[:200, :50])
    peaks = np.array([some.peak_wealth(np.full(50, theta)) for theta in np.linspace(-250, 250, 41)])
    assert (peaks[1:] >= peaks[:-1]).all()


@pytest.mark.parametrize("drawn", [0, 1, 7, 97, 300])
def test_a_part_of_a_list_is_what_it_is_alone(drawn: int) -> None:
    y = population("heavy tails").y[:, :20]
    theta = below(y) + 20
    part = Draws(y[:drawn], np.full(20, drawn), 300, 1.0).peak_wealth(theta)
    padded = Draws(np.where(np.arange(300)[:, None] < drawn, y, 0), np.full(20, drawn), 300, 1.0)
    np.testing.assert_array_equal(padded.peak_wealth(theta), part)


def test_many_lists_are_looked_at_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    y = population("uniform").y[:, :33]
    whole = draws(y).peak_wealth(below(y) + 10)
    monkeypatch.setattr(mixture, "FACTORS_AT_ONCE", 5000)
    np.testing.assert_array_equal(draws(y).peak_wealth(below(y) + 10), whole)


def test_upper_limits_are_where_the_level_is_reached() -> None:
    y = population("uniform").y[:120, :40]
    some = Draws(y, np.full(40, 120), 300, 1.0)
    limits = some.upper_limits(20.0, np.full(40, 300.0))
    assert (some.peak_wealth(limits) >= 20).all()
    # Not much further up than needed: half a standard error below it is not reached.
    error = 300 * y.std(axis=0) * math.sqrt(1 / 120 - 1 / 300)
    assert (some.peak_wealth(limits - error / 2) < 20).all()


def test_a_sum_that_cannot_be_reached_is_certain() -> None:
    y = two_valued(0.5, 1, -1, 100)[40:, None]  # 10 ones, 50 times minus one, 40 more to come
    some = Draws(y, np.array([60]), 100, 1.0)
    # Before the last of them the sum was -39, and 41 were to come.
    assert math.isinf(some.peak_wealth(np.array([2.0]))[0])
    assert math.isfinite(some.peak_wealth(np.array([1.9]))[0])
