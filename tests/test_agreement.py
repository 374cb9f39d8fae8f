"""Predictions of how far arms are read, by how the estimates of different steps agree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot.search.race import policy

if TYPE_CHECKING:
    from sureshot._types import Floats


def agreement(scores: Floats, noise: Floats, *, common: float = 0.0, reach: float = 0.0) -> float:
    """Predict from two estimates of the scores, with a part that all arms have in common."""
    return policy.steps_by_agreement(
        scores + noise[0] + common,
        scores + noise[1] - common,
        np.full(len(scores), 2.0),
        front=100,
        missing=5.0,
        reach=reach,
        k=10,
    )


def test_estimates_that_agree_predict_how_far_arms_are_read() -> None:
    rng = np.random.default_rng(0)
    scores, noise = rng.standard_normal(10_000), rng.standard_normal((2, 10_000))
    # The tenth of ten thousand is 3.09 standard deviations above the mean: 2 * 5 * 100 * (2 / 3.09)**2 steps.
    assert agreement(scores, 0 * noise) == pytest.approx(419, rel=0.05)
    assert agreement(scores, noise) == pytest.approx(419, rel=0.1)
    assert agreement(scores, noise, common=50.0) == pytest.approx(agreement(scores, noise))
    # Limits allow no larger stakes than a gap of 3.09 in a range of 1,000 is worth.
    assert agreement(scores, noise, reach=1000.0) == pytest.approx(5 * 1000 / 3.09, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_estimates_without_a_gap_predict_no_end(seed: int) -> None:
    """Chance alone makes some covariance; what little it promises is far more than reading everything."""
    noise = np.random.default_rng(seed).standard_normal((2, 10_000))
    assert agreement(np.zeros(10_000), noise) > 20 * 419


def test_few_arms_predict_nothing_by_agreement() -> None:
    assert agreement(np.arange(20.0), np.zeros((2, 20))) == math.inf


@pytest.mark.parametrize("unit", [2.0**-537, 2.0**510, 2.0**512, 2.0**1000])
def test_scores_of_any_size_predict_something(unit: float) -> None:
    """Squares may be too large or too small for float64: then nothing is predicted, and nothing fails."""
    scores = unit * np.random.default_rng(0).standard_normal(1000)
    assert agreement(scores, np.zeros((2, 1000))) >= 0
