"""The native wealth against the reference in numpy, and what it does at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sureshot import _native
from sureshot.theory import wealth

# The native code stops growing here; everything above is enough for any delta.
CAP = math.log(1e250)


@pytest.mark.parametrize("kind", ["range", "norm"])
@pytest.mark.parametrize("floor", [0.0, 0.1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("steps", "n_arms"), [(1, 7), (3, 97), (50, 200), (300, 130)])
def test_native_peaks_are_the_reference(
    steps: int, n_arms: int, sign: float, floor: float, kind: str
) -> None:
    rng = np.random.default_rng([steps, n_arms])
    weight = rng.lognormal(0, 1, steps)
    centre = rng.standard_normal(steps)
    limit = rng.uniform(1, 2, n_arms)
    deviation = rng.uniform(-1, 1, (steps, n_arms)) * weight[:, None] * limit
    sums = centre[:, None] + deviation
    squares = 1.3 * deviation**2 / weight[:, None]
    square_limit = squares.sum(axis=0) * rng.uniform(1, 1.5, n_arms)
    left = np.cumsum(weight[::-1])[::-1] + 0.5
    scale = rng.uniform(0.5, 2, n_arms)
    guess = np.full(steps, 3.0)
    guess[:2] = -np.inf
    base = float(centre.sum())
    theta = rng.uniform(-5, 20, n_arms)
    y = sign * deviation / weight[:, None]
    known = sign * base + wealth.before(weight[:, None] * y)
    raw_guess = guess[:, None] / scale
    if kind == "range":
        bets = wealth.range_bets(y, known, left[:, None], raw_guess, limit, floor)
    else:
        bets = wealth.norm_bets(
            y, known, left[:, None], raw_guess, squares, weight[:, None], square_limit, floor
        )
    bets.stake[:5] = 0
    expected = wealth.peak_log_wealth(bets, theta)
    for threads in (1, 2):
        peaks = np.empty(n_arms)
        _native.peak_wealth(
            sums,
            None if kind == "range" else squares,
            centre,
            weight,
            left,
            guess,
            scale,
            limit if kind == "range" else square_limit,
            base,
            sign,
            floor,
            5,
            theta,
            _native.Team(threads),
            peaks,
        )
        assert (np.isinf(peaks) == np.isinf(expected)).all()
        capped = np.minimum(np.log(peaks), CAP)
        np.testing.assert_allclose(capped, np.minimum(expected, CAP), rtol=1e-9, atol=1e-9)
    if steps >= 50:
        # The comparison is about something: some arms are bet against, not all for certain.
        assert np.isfinite(expected).sum() > 0
        assert (expected[np.isfinite(expected)] > 0.1).any()


def test_column_sums_do_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((500, 7)) * 10.0 ** rng.integers(-8, 8, (500, 7))
    results = []
    for _ in range(5):
        high, low = np.empty((2, 7))
        _native.column_sums(np.ascontiguousarray(rng.permutation(table)), high, low)
        results.append(high + low)
    expected = [math.fsum(column) for column in table.T]
    for found in results:
        assert found.tolist() == expected


def test_wealth_that_was_nearly_lost_can_be_won_back() -> None:
    """First the rewards are too large for the tested threshold, then too small, thousands of times."""
    steps = 24_000
    wave = 0.01 * np.sin(np.arange(steps))
    y = (np.where(np.arange(steps) < 3700, 0.9, -0.9) + wave)[:, None]
    left = np.arange(2 * steps, steps, -1.0)
    ones = np.ones(steps)
    guess = np.full(steps, 1e5)
    theta = np.array([0.0])
    known = wealth.before(y)
    bets = wealth.range_bets(y, known, left[:, None], guess[:, None], np.ones(1))
    path = wealth.log_wealth(bets, theta)
    assert path.min() < -5000
    expected = wealth.peak_log_wealth(bets, theta)
    peaks = np.empty(1)
    _native.peak_wealth(
        y,
        None,
        0 * ones,
        ones,
        left,
        guess,
        np.ones(1),
        np.ones(1),
        0.0,
        1.0,
        0.0,
        0,
        theta,
        _native.Team(1),
        peaks,
    )
    assert 0 < expected[0] < CAP
    np.testing.assert_allclose(np.log(peaks), expected, rtol=1e-9)
