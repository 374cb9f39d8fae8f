"""Queries that share rows find what each of them finds alone, to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import sureshot
from sureshot import _native
from sureshot._elements import for_kernels
from sureshot._native import Team
from sureshot.search import product
from sureshot.search.exact_batch import CHEAP, MULTIPLIED
from sureshot.sources import costs
from tests.conftest import ELEMENT_TYPES, random_data

if TYPE_CHECKING:
    from sureshot._types import Array

METRICS = {
    "ip": _native.Metric.INNER_PRODUCT,
    "sqeuclidean": _native.Metric.SQUARED_EUCLIDEAN,
    "l1": _native.Metric.L1,
}
ROWS_OF_FLOATS = product.Rows(wide=False, by_column=False)
# Fewer than a tile has rows and queries, and more; and columns that end within lanes, and within a part.
ROWS, QUERIES, WIDTHS = (1, 7, 131, 3), (2, 5, 37, 1030), (1, 13, 1535, 9)


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_scores_are_those_of_each_query_alone(dtype: str, metric: str) -> None:
    rng = np.random.default_rng(0)
    for n_rows, n_queries, width in zip(ROWS, QUERIES, WIDTHS, strict=True):
        data = random_data(rng, (n_rows, width), dtype)
        arms = np.arange(n_rows)[rng.random(n_rows) < 0.9] if n_rows > 1 else np.arange(1)
        floats = rng.standard_normal((n_queries, width), dtype=np.float32)
        doubles = floats + 1e-9 * rng.standard_normal((n_queries, width))
        for queries in (floats, doubles):
            for order in ("C", "F"):
                assert_shared(np.asarray(data, order=order), METRICS[metric], queries, arms)
            wide = np.repeat(np.repeat(data, 2, axis=0), 3, axis=1)
            assert_shared(wide[::2, ::3], METRICS[metric], queries, arms)
            assert_shared(data[::-1, ::-1], METRICS[metric], queries, arms)


def assert_shared(data: Array, metric: _native.Metric, queries: Array, arms: Array) -> None:
    """Check scores, and squares where inner products come with them, against those of single queries."""
    width, with_squares = data.shape[1], metric == _native.Metric.INNER_PRODUCT
    found, expected = np.full((2, len(queries), len(arms)), np.nan)
    squares, its_squares = (np.full((2, len(arms)), np.nan)) if with_squares else (None, None)
    dense = _native.Dense(*for_kernels(data), metric, np.zeros(width), block=width, shift=0)
    _native.row_scores(dense, queries, arms, Team(2), found, squares)
    for query, own in zip(queries, expected, strict=True):
        alone = query[None].astype(np.float64)
        _native.row_scores(dense, alone, arms, Team(1), own[None], its_squares)
    assert found.tobytes() == expected.tobytes()
    if squares is not None and its_squares is not None:
        assert squares.tobytes() == its_squares.tobytes()


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("metric", ["ip", "abs-ip", "sqeuclidean"])
def test_few_rows_are_evaluated_where_that_costs_less(
    metric: str, strided: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    data = rng.standard_normal((90, 3000), dtype=np.float32)
    queries = rng.standard_normal((70, 3000), dtype=np.float32)
    if strided:
        data = np.repeat(data, 2, axis=0)[::2]
    multiplied = sureshot.top_k(data, queries, 5, metric=metric, method="exact")
    monkeypatch.setattr(costs, "PAIR_NUMBER", 100.0)
    found = sureshot.top_k(data, queries, 5, metric=metric, method="exact")
    assert multiplied.work.choice == MULTIPLIED
    assert found.work.choice == CHEAP
    assert found.indices.tolist() == multiplied.indices.tolist()
    assert found.scores.tobytes() == multiplied.scores.tobytes()
    assert found.certificate.exact


def test_rows_that_are_read_again_count() -> None:
    """Of a hundred rows most are evaluated for one of sixteen queries, and of many rows few are."""
    read = costs.NUMBERS_IN_CACHE // 100
    cheap = product.cost_of_product(100, read, 10, 16, ROWS_OF_FLOATS)
    again = product.cost_of_product(100, read + 1, 10, 16, ROWS_OF_FLOATS)
    assert again - cheap > 0.9 * costs.PRODUCT_READ * 100 * read / 16
    assert product.cost_of_all(100, 10 * read, 16, "ip", ROWS_OF_FLOATS) < product.cost_of_product(
        100, 10 * read, 10, 16, ROWS_OF_FLOATS
    )
    assert product.cost_of_all(1000, read, 16, "ip", ROWS_OF_FLOATS) > product.cost_of_product(
        1000, read, 10, 16, ROWS_OF_FLOATS
    )
