"""The radii of the bandits: the published constants, and that they hold."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureshot.theory import concentration, radii
from sureshot.theory.looks import looks, next_look
from tests.guarantee import assert_at_most

if TYPE_CHECKING:
    from sureshot._types import Floats

PATHS, STEPS = 3000, 1000
levels = st.floats(0.01, 1e3)
widths = st.floats(1e-3, 1e3)


@given(m=st.integers(1, 10**9), width=widths, level=levels)
def test_with_replacement_it_is_hoeffdings(m: int, width: float, level: float) -> None:
    found = radii.deviation(m, width, level)
    assert math.exp(-2 * m * (found / width) ** 2) == pytest.approx(math.exp(-level))


@given(m=st.integers(1, 2000), width=widths, delta=st.floats(1e-9, 0.99))
def test_without_it_is_hoeffding_and_serflings(m: int, width: float, delta: float) -> None:
    found = radii.deviation(m, width, -math.log(delta), 1000)
    assert found == pytest.approx(concentration.radius(min(m, 1000), 1000, width, delta))


@given(
    radius=st.floats(1e-3, 10),
    width=st.floats(0.1, 10),
    level=levels,
    n_rewards=st.none() | st.integers(1, 10**5),
)
def test_pulls_for_is_enough_and_hardly_more(
    radius: float, width: float, level: float, n_rewards: int | None
) -> None:
    pulls = radii.pulls_for(radius, width, level, n_rewards)
    assert pulls == int(pulls) >= 1
    assert radii.deviation(int(pulls), width, level, n_rewards) <= radius * (1 + 1e-12)
    if pulls > 2:
        assert radii.deviation(int(pulls) - 2, width, level, n_rewards) > radius


def test_published_constants() -> None:
    t, n, delta = 777, 12, 0.03
    expected = math.sqrt(math.log(5 * n * t**2 / delta) / t)
    assert radii.successive_elimination(t, n, 3.0, delta) == pytest.approx(3 * expected)
    expected = math.sqrt(math.log(1.25 * n * 900**4 / delta) / (2 * t))
    assert radii.lucb(t, 900, n, 3.0, delta) == pytest.approx(3 * expected)
    many = radii.lucb(np.array([t, 2 * t]), 900, n, 3.0, delta)
    assert many == pytest.approx([3 * expected, 3 * expected / math.sqrt(2)])
    # zeta(3), the sum of 1 / t**3, is below k1.
    assert sum(1 / i**3 for i in range(1, 1000)) + 1 / 1000**2 < radii.LUCB_CONSTANT
    e, omega = 0.01, 1e-8
    expected = 1.1 * math.sqrt(2 * 1.5**2 * (1 + e) * math.log(math.log((1 + e) * t) / omega) / t)
    assert radii.lil(t, 3.0, -math.log(omega)) == pytest.approx(expected)
    level = radii.lil_log_level(n, delta)
    assert n * (2 + e) / e * math.log(1 + e) ** -(1 + e) * math.exp(-level) == pytest.approx(delta)
    # Lemma 3 is for omega below log(1 + e) / e, which any delta gives.
    assert math.exp(-radii.lil_log_level(1, 1.0)) < math.log(1 + e) / math.e


@given(n_rewards=st.integers(1, 10**6))
def test_looks(n_rewards: int) -> None:
    grid = looks(n_rewards)
    assert grid[0] == 1
    assert grid[-1] == n_rewards
    assert all(a < b <= a + math.ceil(a / 8) for a, b in itertools.pairwise(grid))
    assert all(next_look(a) >= a * 9 / 8 for a in grid)


def walks(seed: int) -> Floats:
    """Return the mean of the first 1, 2, ... fair coins, less one half, along each path."""
    coins = np.random.default_rng(seed).integers(0, 2, (PATHS, STEPS)) - 0.5
    means: Floats = np.cumsum(coins, axis=1) / np.arange(1, STEPS + 1)
    return means


@pytest.mark.parametrize("delta", [0.3, 0.05])
@pytest.mark.parametrize("factor", [1.0, 0.2])
def test_they_hold_at_all_times_and_a_fifth_of_them_does_not(delta: float, factor: float) -> None:
    steps = np.arange(1, STEPS + 1)
    level = radii.lil_log_level(1, delta)
    found = {
        "elimination": [radii.successive_elimination(t, 1, 1.0, delta) for t in steps.tolist()],
        "lucb": radii.lucb(steps, STEPS, 1, 1.0, delta),
        "lil": [radii.lil(t, 1.0, level) for t in steps.tolist()],
    }
    means = walks(5)
    for values in found.values():
        crossed = int((means > factor * np.array(values)).any(axis=1).sum())
        if factor == 1:
            assert_at_most(crossed, PATHS, delta)
        else:
            with pytest.raises(AssertionError, match="promised"):
                assert_at_most(crossed, PATHS, delta)


@pytest.mark.parametrize("factor", [1.0, 0.4])
def test_planted_small_radius_of_the_looks(factor: float) -> None:
    n_rewards, delta = 301, 0.1
    grid = looks(n_rewards)
    values = np.array(
        [radii.at_look(i + 1, m, 1.0, 1, delta, n_rewards) for i, m in enumerate(grid)]
    )
    assert values[-1] == 0
    coins = np.random.default_rng(8).permuted(
        np.tile(np.arange(n_rewards) % 2, (PATHS, 1)).astype(float), axis=1
    )
    means = np.cumsum(coins, axis=1)[:, np.array(grid) - 1] / np.array(grid)
    error = means - coins.mean(axis=1, keepdims=True)
    crossed = int((error > factor * values + 1e-12).any(axis=1).sum())
    if factor == 1:
        assert_at_most(crossed, PATHS, delta)
    else:
        with pytest.raises(AssertionError, match="promised"):
            assert_at_most(crossed, PATHS, delta)
