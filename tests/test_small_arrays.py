"""What short arrays are asked natively, because numpy takes a microsecond for each operation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sureshot import _native

SIZES = [1, 7, 8, 9, 97, 1535]


@pytest.mark.parametrize("size", SIZES)
def test_extremes_are_those_of_numpy(size: int) -> None:
    values = np.random.default_rng(size).standard_normal(size)
    assert _native.extremes(values) == (values.min(), values.max())


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("size", SIZES)
def test_one_value_that_is_not_finite_is_found_wherever_it_is(size: int, odd: float) -> None:
    values = np.random.default_rng(size).standard_normal(size)
    assert _native.all_finite(values)
    for at in {0, size // 2, size - 1}:
        changed = values.copy()
        changed[at] = odd
        assert not _native.all_finite(changed)
        assert not _native.all_finite(changed.astype(np.float32))
        np.testing.assert_array_equal(_native.extremes(changed), (changed.min(), changed.max()))


def test_nothing_is_finite_and_has_no_extremes() -> None:
    assert _native.all_finite(np.empty(0))
    assert _native.all_finite(np.full(40, np.finfo(np.float32).max))
    assert _native.all_finite(np.full(40, -np.finfo(np.float64).max))
    with pytest.raises(ValueError, match="no values"):
        _native.extremes(np.empty(0))


def test_tables_are_looked_at_whole() -> None:
    table = np.arange(12.0).reshape(3, 4)
    assert _native.extremes(table) == (0.0, 11.0)


@pytest.mark.parametrize("size", SIZES)
def test_the_best_come_first_and_ties_by_the_smaller_arm(size: int) -> None:
    rng = np.random.default_rng(size)
    scores = rng.integers(-3, 3, size).astype(np.float64)
    arms = rng.permutation(size)
    expected = np.lexsort((arms, -scores))
    for k in {0, 1, size // 2, size}:
        found, best_scores = _native.best(scores, arms, k)
        np.testing.assert_array_equal(found, arms[expected[:k]])
        np.testing.assert_array_equal(best_scores, scores[expected[:k]])


@pytest.mark.parametrize("k", [-1, 4])
def test_more_than_there_are_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match="k of them"):
        _native.best(np.ones(3), np.arange(3), k)
