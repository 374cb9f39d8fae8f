"""Products by our own kernels: within their bounds, and the scores of pairs that follow them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot import _native
from sureshot._elements import for_kernels
from sureshot._native import Team
from sureshot.search import exact_batch, product_queries
from sureshot.search.product_queries import ProductQueries
from sureshot.sources import costs
from sureshot.sources.values import REWARDS
from sureshot.theory.rounding import any_order_share
from tests.test_product import METRICS, TYPES, assert_as_alone, numbers

if TYPE_CHECKING:
    from sureshot._types import Array


@pytest.fixture(autouse=True)
def by_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """Multiply however little there is to multiply."""
    monkeypatch.setattr(costs, "SHARED_NUMBER", 1e9)


def dense_of(data: Array) -> _native.Dense:
    return _native.Dense(
        *for_kernels(data),
        _native.Metric.INNER_PRODUCT,
        np.zeros(data.shape[1]),
        block=data.shape[1],
        shift=0,
    )


@pytest.mark.parametrize("instructions", _native.instruction_sets())
@pytest.mark.parametrize("dtype", [dtype for dtype in TYPES if dtype is not np.float64])
@pytest.mark.parametrize("width", [1, 3, 16, 17, 100, 512, 1025, 2500])
def test_products_of_kernels_are_within_their_bounds(
    instructions: str, dtype: Any, width: int
) -> None:
    rng = np.random.default_rng(width)
    before = _native.instruction_set()
    _native.use_instruction_set(instructions)
    try:
        for n_rows, n_queries in ((1, 1), (2, 3), (5, 4), (11, 7), (7, 64), (5, 70), (150, 99)):
            data = numbers(rng, (n_rows + 1, 2 * width), dtype)[:, ::2]
            queries = rng.standard_normal((n_queries, width), dtype=np.float32)
            arms = np.arange(1, n_rows + 1)
            scores = np.empty((n_rows, n_queries), np.float32)
            squares = np.empty(n_rows)
            operand = _native.Operand(queries, Team(2))
            operand.multiply(dense_of(data), arms, Team(2), scores, squares)
            rows, asked = data[1:].astype(np.float64), queries.astype(np.float64)
            share = any_order_share(operand.roundings, 2.0**-24) + 1e-12
            assert (
                np.abs(scores - rows @ asked.T) <= share * (np.abs(rows) @ np.abs(asked.T))
            ).all()
            exact = np.square(rows).sum(axis=1)
            assert (np.abs(squares - exact) <= share * exact).all()
    finally:
        _native.use_instruction_set(before)


@pytest.mark.parametrize("metric", list(REWARDS.values()))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_pairs_have_the_bits_of_scores_of_rows(metric: Any, dtype: Any) -> None:
    rng = np.random.default_rng(21)
    data = rng.standard_normal((50, 2501), dtype=np.float32)
    queries = rng.standard_normal((33, 2501)).astype(dtype)
    counts = rng.integers(0, 12, len(queries))
    starts = np.append(0, np.cumsum(counts))
    arms = np.concatenate([rng.choice(50, count, replace=False) for count in counts])
    dense = _native.Dense(
        *for_kernels(data), metric, np.zeros(data.shape[1]), block=data.shape[1], shift=0
    )
    found, expected = np.empty(len(arms)), np.empty((len(queries), 50))
    _native.pair_scores(dense, queries, starts, arms, Team(2), found)
    _native.row_scores(dense, queries.astype(np.float64), np.arange(50), Team(2), expected)
    np.testing.assert_array_equal(found, expected[np.repeat(np.arange(len(counts)), counts), arms])


def test_queries_of_a_moderate_size_are_not_copied() -> None:
    queries = np.random.default_rng(22).standard_normal((7, 30), dtype=np.float32)
    queries[3] = 0
    (group,) = ProductQueries.groups(queries, queries.dtype, Team(1))
    assert group is not None
    assert np.shares_memory(group.values, queries)
    np.testing.assert_allclose(group.norms, np.linalg.norm(queries.astype(np.float64), axis=1))


@pytest.mark.parametrize("size", [2.0**-20, 1.0, 2.0**20])
def test_rounded_queries_in_groups(size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product_queries, "MOST_BYTES", 3 * 40 * 4)
    rng = np.random.default_rng(23)
    data = rng.standard_normal((200, 40), dtype=np.float32)
    queries = size * rng.standard_normal((10, 40))
    for asked in (queries, queries.astype(np.float32)):
        for metric in ("ip", "sqeuclidean"):
            found = assert_as_alone(data, asked, 5, metric=metric)
            assert found.work.choice == exact_batch.MULTIPLIED


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1e-30, 1e-22, 1e-15, 1e17, 1e25])
def test_squares_that_float32_does_not_have(metric: str, size: float) -> None:
    rng = np.random.default_rng(24)
    data = (size * rng.standard_normal((150, 60))).astype(np.float32)
    queries = size * rng.standard_normal((6, 60))
    assert_as_alone(data, queries, 5, metric=metric)
    assert_as_alone(data, queries.astype(np.float32), 5, metric=metric)


def test_kernels_assume_nothing_of_numpy() -> None:
    data = np.random.default_rng(19).standard_normal((300, 40), dtype=np.float32)
    found = sureshot.top_k(data, data[:9], 3, method="exact")
    assert found.work.choice == exact_batch.MULTIPLIED
    assert found.queries[0].certificate == sureshot.top_k(data, data[0], 3).certificate
