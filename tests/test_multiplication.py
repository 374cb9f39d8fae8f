"""Products by our own kernels: within their bounds, and the scores of pairs that follow them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import sureshot
from sureshot import _native
from sureshot._elements import for_kernels
from sureshot._native import Team
from sureshot.search import exact_batch, product, product_queries
from sureshot.search.product_queries import ProductQueries
from sureshot.sources.values import REWARDS
from sureshot.theory import products
from sureshot.theory.rounding import any_order_share
from tests.test_product import METRICS, TYPES, assert_as_alone, numbers

if TYPE_CHECKING:
    from sureshot._types import Array


@pytest.fixture(autouse=True)
def by_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """Multiply however little there is to multiply."""
    monkeypatch.setattr(product, "cost_of_all", lambda *_, **__: np.inf)


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
@pytest.mark.parametrize("order", ["K", "C", "F"])
def test_products_of_kernels_are_within_their_bounds(
    instructions: str, dtype: Any, width: int, order: Literal["K", "C", "F"]
) -> None:
    rng = np.random.default_rng(width)
    before = _native.instruction_set()
    _native.use_instruction_set(instructions)
    try:
        for n_rows, n_queries in (
            (1, 1),
            (2, 3),
            (5, 4),
            (11, 7),
            (7, 64),
            (5, 70),
            (97, 109),
            (150, 99),
        ):
            data = numbers(rng, (n_rows + 1, 2 * width), dtype)[:, ::2]
            data = np.asarray(data, order=order)
            queries = rng.standard_normal((n_queries, width), dtype=np.float32)
            arms = np.arange(1, n_rows + 1)
            scores = np.empty((n_rows, n_queries), np.float32)
            squares = np.empty(n_rows)
            rows, asked = data[1:].astype(np.float64), queries.astype(np.float64)
            exact, squared = rows @ asked.T, np.square(rows).sum(axis=1)
            terms = np.abs(rows) @ np.abs(asked.T)
            # Many queries are packed panel by panel for few rows, and once for many; rows if they are fewer.
            for expected_rows in (n_rows, 5000):
                operand = _native.Operand(queries, Team(2), expected_rows)
                operand.multiply(dense_of(data), arms, Team(2), scores, squares)
                share = any_order_share(operand.roundings, 2.0**-24) + 1e-12
                assert (np.abs(scores - exact) <= share * terms).all()
                assert (np.abs(squares - squared) <= share * squared).all()
    finally:
        _native.use_instruction_set(before)


@pytest.mark.parametrize("distance", [False, True])
@pytest.mark.parametrize("squares_in_double", [False, True])
def test_errors_of_products_are_those_of_the_theorem(
    *, distance: bool, squares_in_double: bool
) -> None:
    rng = np.random.default_rng(26)
    norms, lost = np.exp(rng.normal(0, 8, (2, 40)))
    norms[3] = lost[4] = 0.0
    units = np.ldexp(1.0, rng.integers(-90, 90, 40))
    squares, scale = np.exp(rng.normal(0, 20, (2, 300)))
    squares[5] = 0.0
    for width in (1, 100, 100_000):
        terms = products.error_terms(
            width=width,
            roundings=7 + width // 8,
            dtype="float32",
            squares_in_double=squares_in_double,
            distance=distance,
        )
        of_queries = products.query_errors(terms, norms=norms, lost=lost, units=units)
        of_arms = products.arm_errors(terms, of_queries, squares, scale)
        given = _native.ErrorTerms(**terms._asdict())
        found = _native.product_errors(given, norms, lost, units, squares, scale)
        expected = (
            of_queries.lengths,
            of_queries.constant,
            of_arms.offset,
            of_arms.fixed,
            of_arms.factor,
        )
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("both_signs", [False, True])
def test_candidates_of_kernels_are_those_of_products_and_their_errors(*, both_signs: bool) -> None:
    rng = np.random.default_rng(27)
    team, n_arms, width = Team(2), 700, 64
    data = rng.standard_normal((n_arms, width), dtype=np.float32)
    data[100:200] = data[100] + 1e-7 * data[100:200]  # nearly tied
    arms, scale = np.arange(n_arms), np.exp(rng.standard_normal(n_arms))
    queries = np.concatenate([data[95:105], rng.standard_normal((60, width), dtype=np.float32)])
    for count, k in ((70, 9), (12, 3)):
        (asked,) = ProductQueries.groups(queries[:count], team, count)
        assert asked is not None
        operand, dense = _native.Operand(asked.values, team, n_arms), dense_of(data)
        terms = products.error_terms(
            width=width,
            roundings=operand.roundings,
            dtype="float32",
            squares_in_double=False,
            distance=not both_signs,
        )
        scores, squares = np.empty((n_arms, count), np.float32), np.empty(n_arms)
        operand.multiply(dense, arms, team, scores, squares)
        of_queries = products.query_errors(
            terms, norms=asked.norms, lost=asked.lost, units=asked.units
        )
        errors = products.arm_errors(terms, of_queries, squares, scale)
        selection = _native.Selection(asked.units, of_queries.lengths, k, 300)
        selection.add(team, scores, 0, **dataclasses.asdict(errors), both_signs=both_signs)
        expected = selection.candidates(team)
        for rows in (1, 97, 10_000):
            its_squares = np.empty(n_arms)
            found = operand.candidates(
                dense,
                arms,
                team,
                terms=_native.ErrorTerms(**terms._asdict()),
                norms=asked.norms,
                lost=asked.lost,
                units=asked.units,
                scale=scale,
                both_signs=both_signs,
                k=k,
                most=300,
                rows=rows,
                largest_square=products.LARGEST_NORM**2,
                squares=its_squares,
            )
            assert found is not None
            np.testing.assert_array_equal(its_squares, squares)
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_array_equal(ours, theirs)


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
    (group,) = ProductQueries.groups(queries, Team(1), len(queries))
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
