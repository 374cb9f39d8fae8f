"""float16 and bfloat16: every value is read exactly, and bounds are rounded as the data is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import sureshot
from sureshot import _native
from sureshot._elements import ELEMENTS, for_kernels
from sureshot._native import Metric, Team

if TYPE_CHECKING:
    from tests.racing import Course

halves = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])


@halves
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_pattern_of_bits_is_its_number(dtype: str, order: str) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    with np.errstate(invalid="ignore"):
        expected = every.astype(np.float64)
    data = np.zeros((1 << 16, 3), np.uint16, order=order)  # type: ignore[call-overload]
    data[:, 1] = every.view(np.uint16)
    found = np.empty(1 << 16)
    query = np.ones(3)
    dense = _native.Dense(data, ELEMENTS[dtype], Metric.INNER_PRODUCT, query, block=1, shift=0)
    _native.row_scores(dense, query[None], np.arange(1 << 16), Team(1), found[None])
    np.testing.assert_array_equal(found, expected)


@halves
@pytest.mark.parametrize("column", [0, 15, 16, 23, 24, 28])
def test_in_single_precision_every_pattern_of_bits_is_its_number_too(
    dtype: str, column: int
) -> None:
    """Several values are converted at once, so that each place among them is tried."""
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    every = every[np.isfinite(every.astype(np.float32))]
    data = np.zeros((len(every), 29), np.uint16)
    data[:, column] = every.view(np.uint16)
    found = np.empty(len(every))
    query = np.ones(29, np.float32)
    dense = _native.Dense(data, ELEMENTS[dtype], Metric.INNER_PRODUCT, query, block=1, shift=0)
    _native.screen(dense, query[None], np.arange(len(every)), Team(1), found[None], None)
    np.testing.assert_array_equal(found, every.astype(np.float64))


@halves
def test_the_data_is_not_copied(dtype: str) -> None:
    data = np.zeros((4, 6), dtype)[::-1, ::2]
    values, element = for_kernels(data)
    assert np.shares_memory(values, data)
    assert element == ELEMENTS[dtype]
    with pytest.raises(TypeError, match="not of the given element type"):
        _native.Dense(
            data.astype(np.float32), element, Metric.INNER_PRODUCT, np.ones(3), block=1, shift=0
        )


@halves
@pytest.mark.parametrize("limit", [0.1, 1 / 3, 0.7, 1.1])
def test_limits_mean_the_nearest_value_of_the_type(dtype: str, limit: float) -> None:
    rng = np.random.default_rng(0)
    data = rng.uniform(-limit, limit, (50, 3000)).astype(dtype)
    data[:, ::2] = np.array(limit).astype(dtype)
    data[:, 1::4] = np.array(-limit).astype(dtype)
    query = rng.standard_normal(3000).astype(dtype)
    found = sureshot.top_k(data, query, 3, bounds=(-limit, limit), rng=0)
    exact = sureshot.top_k(data, query, 3, method="exact")
    assert found.indices.tolist() == exact.indices.tolist()


@halves
def test_limits_too_large_for_the_type_stay_limits(dtype: str, races: list[Course]) -> None:
    data = np.random.default_rng(0).standard_normal((20, 500)).astype(dtype)
    before = len(races)
    found = sureshot.top_k(data, np.ones(500), 3, bounds=(-1e100, 1e100), rng=0)
    assert len(races) > before
    exact = sureshot.top_k(data, np.ones(500), 3, method="exact")
    assert found.indices.tolist() == exact.indices.tolist()


@halves
@pytest.mark.parametrize("bounds", ["unit", "scan", None])
def test_unit_rows(dtype: str, bounds: str | None) -> None:
    rows = np.random.default_rng(0).standard_normal((100, 5000)) ** 3
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(dtype)
    assert (np.linalg.norm(unit.astype(np.float64), axis=1) > 1).any()
    found = sureshot.top_k(unit, unit[3], 3, bounds=bounds, rng=0)
    exact = sureshot.top_k(unit, unit[3], 3, method="exact")
    assert found.indices.tolist() == exact.indices.tolist()
    assert found.indices[0] == 3
