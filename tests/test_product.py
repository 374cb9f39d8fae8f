"""Several queries by a matrix product: to the last bit the answers of one query at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import ml_dtypes
import numpy as np
import pytest

import sureshot
from sureshot import _native
from sureshot._native import Team
from sureshot.search import exact_batch, product
from sureshot.theory import products
from sureshot.theory.rounding import any_order_share

if TYPE_CHECKING:
    from sureshot._types import Array

METRICS = ("ip", "abs-ip", "sqeuclidean", "cosine")
TYPES: tuple[Any, ...] = (
    np.float32,
    np.float64,
    np.float16,
    ml_dtypes.bfloat16,
    np.int8,
    np.uint8,
    np.int16,
    np.bool_,
)


@pytest.fixture(autouse=True)
def by_product(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Multiply however little there is to multiply, and return how many queries each product answers."""
    answered: list[int] = []
    candidates = product.Products.candidates

    def listen(*args: Any) -> Any:
        found = candidates(*args)
        answered.append(0 if found is None else int(np.count_nonzero(np.diff(found[1]))))
        return found

    monkeypatch.setattr(product, "cost_of_all", lambda *_, **__: np.inf)
    monkeypatch.setattr(product.Products, "candidates", listen)
    return answered


@pytest.fixture(params=["C", "F", "where", "strided"])
def layout(request: pytest.FixtureRequest) -> str:
    """Return how the rows lie in memory, or that some of them are searched."""
    return str(request.param)


def laid_out(data: Array, layout: str) -> tuple[Array, Array | None]:
    """Return the same rows in that layout, and which of them to search."""
    if layout == "strided":
        wide = np.zeros((2 * len(data), 3 * data.shape[1]), data.dtype)
        wide[::2, ::-3] = data
        return wide[::2, ::-3], None
    where = np.flatnonzero(np.arange(len(data)) % 3) if layout == "where" else None
    return np.asarray(data, order="F" if layout == "F" else "C"), where


def assert_as_alone(data: Array, queries: Array, k: int, **options: Any) -> sureshot.TopK:
    """Compare a batch with its queries one at a time, and return it."""
    together = sureshot.top_k(data, queries, k, method="exact", **options)
    for query, found in zip(queries, together.queries, strict=True):
        alone = sureshot.top_k(data, query, k, method="exact", **options)
        np.testing.assert_array_equal(found.indices, alone.indices)
        np.testing.assert_array_equal(found.scores, alone.scores)
        assert found.certificate.exact
        assert alone.certificate.exact
    return together


def numbers(rng: np.random.Generator, shape: tuple[int, int], dtype: Any) -> Array:
    """Return numbers that suit the type, with equal rows among them."""
    values = 30 * rng.standard_normal(shape)
    values[shape[0] // 2] = values[1]
    if np.dtype(dtype) == np.uint8:
        values = np.abs(values)
    found: Array = (values > 0) if dtype is np.bool_ else values.astype(dtype)
    return found


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", TYPES)
def test_metrics_types_and_layouts(
    metric: str, dtype: Any, layout: str, by_product: list[int]
) -> None:
    rng = np.random.default_rng(0)
    data, where = laid_out(numbers(rng, (97, 53), dtype), layout)
    bounds = sureshot.scan(data) if metric == "cosine" else None
    queries = rng.standard_normal((17, 53))
    assert_as_alone(data, queries, 5, metric=metric, where=where, bounds=bounds)
    assert by_product == ([] if dtype is np.float64 else [17])  # in float64 nothing is faster


@pytest.mark.parametrize("n_queries", [2, 3, 16, 17, 100])
@pytest.mark.parametrize("metric", METRICS)
def test_batch_sizes(n_queries: int, metric: str) -> None:
    rng = np.random.default_rng(1)
    data = rng.standard_normal((200, 31), dtype=np.float32)
    assert_as_alone(data, rng.standard_normal((n_queries, 31)), 7, metric=metric)


@pytest.mark.parametrize("k", [1, 2, 24, 25, 26, 199, 200])
@pytest.mark.parametrize("metric", ["abs-ip", "sqeuclidean"])
def test_every_k(k: int, metric: str) -> None:
    rng = np.random.default_rng(2)
    data = rng.standard_normal((200, 31), dtype=np.float32)
    assert_as_alone(data, rng.standard_normal((5, 31)), k, metric=metric)


@pytest.mark.parametrize("metric", ["ip", "abs-ip"])
def test_factors_of_rows(metric: str, by_product: list[int]) -> None:
    rng = np.random.default_rng(3)
    data = rng.standard_normal((300, 40), dtype=np.float32)
    factors = np.exp(5 * rng.standard_normal(300))
    assert_as_alone(data, rng.standard_normal((6, 40)), 9, metric=metric, row_scale=factors)
    assert by_product == [6]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_panels_of_columns_and_tiles_of_rows(
    metric: str, order: Literal["C", "F"], by_product: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product, "SCORES_OF_KERNELS", 200)
    rng = np.random.default_rng(4)
    data = np.asarray(rng.standard_normal((70, 1535), dtype=np.float32), order=order)
    bounds = sureshot.scan(data)
    assert_as_alone(data, rng.standard_normal((9, 1535)), 4, metric=metric, bounds=bounds)
    assert by_product == [9]


def nearly_tied(rng: np.random.Generator, *, cancelling: bool) -> tuple[Array, Array]:
    """Return rows whose scores differ by less than a product in float32 can tell, and queries."""
    width = 600
    base = rng.standard_normal(width)
    data = base + 1e-7 * rng.standard_normal((300, width))
    queries = base + 0.1 * rng.standard_normal((12, width))
    if cancelling:
        # Large products of either sign, of which next to nothing is left.
        queries -= np.outer(queries @ base, base) / (base @ base)
    return data.astype(np.float32), queries


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("cancelling", [False, True])
def test_scores_that_nearly_tie(metric: str, *, cancelling: bool) -> None:
    data, queries = nearly_tied(np.random.default_rng(5), cancelling=cancelling)
    assert_as_alone(data, queries, 6, metric=metric)


@pytest.mark.parametrize("metric", ["ip", "sqeuclidean"])
def test_planted_error_in_the_bound_is_caught(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, queries = nearly_tied(np.random.default_rng(5), cancelling=False)
    monkeypatch.setattr(products, "any_order_share", lambda *_: 1e-12)
    monkeypatch.setattr(products, "rounding_share", lambda *_: 0.0)
    with pytest.raises(AssertionError, match="not equal"):
        assert_as_alone(data, queries.astype(np.float32), 6, metric=metric)


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_the_bound_holds_for_sums_in_order(order: str) -> None:
    rng = np.random.default_rng(6)
    for length in (1, 7, 97, 1535, 4096):
        first, second = rng.random((2, length)).astype(np.float32)
        step = 1 if order == "forward" else -1
        computed = float(np.cumsum((first * second)[::step])[-1])
        products = first.astype(np.float64) * second
        bound = any_order_share(length, 2.0**-24) * products.sum()
        assert abs(computed - products.sum()) <= bound


@pytest.mark.parametrize("metric", ["ip", "abs-ip", "sqeuclidean"])
def test_ties_go_to_the_smaller_index(metric: str) -> None:
    rng = np.random.default_rng(7)
    data = np.tile(rng.integers(-3, 4, (10, 20)), (400, 1)).astype(np.float32)
    queries = rng.integers(-2, 3, (5, 20)).astype(np.float64)
    queries[2] = 0
    assert_as_alone(data, queries, 11, metric=metric)


def test_all_rows_are_equal(by_product: list[int]) -> None:
    data = np.ones((5000, 8), np.float32)
    found = assert_as_alone(data, np.ones((4, 8)), 3)
    assert found.indices.tolist() == [[0, 1, 2]] * 4
    assert by_product == [0]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("metric", ["ip", "abs-ip", "sqeuclidean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_what_is_not_finite_is_refused(value: float, metric: str, dtype: Any) -> None:
    rng = np.random.default_rng(8)
    data = rng.standard_normal((500, 20)).astype(dtype)
    data[333, 7] = value
    queries = rng.standard_normal((6, 20))
    queries[:, 7] = 0  # so that an infinite value makes no infinite product
    with pytest.raises(sureshot.BoundsError, match=r"row 333 .*coordinate 7"):
        sureshot.top_k(data, queries, 3, metric=metric, method="exact")


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-42, 1e-30, 1e30, 1e38, 1e150])
@pytest.mark.parametrize("query_size", [1e-200, 1e-40, 1.0, 1e40, 1e150])
@pytest.mark.parametrize("metric", ["ip", "abs-ip", "sqeuclidean"])
def test_very_large_and_very_small_numbers(size: float, query_size: float, metric: str) -> None:
    rng = np.random.default_rng(9)
    fits = 1e-45 < size < 1e39
    values = size * rng.uniform(-1, 1, (120, 15))
    for dtype in (np.float64, *((np.float32,) if fits else ())):
        assert_as_alone(
            values.astype(dtype), query_size * rng.uniform(-1, 1, (5, 15)), 4, metric=metric
        )


def test_a_score_too_large_is_refused_even_if_it_is_the_worst() -> None:
    rng = np.random.default_rng(10)
    data = rng.standard_normal((200, 15))
    data[50] = -1e200
    with pytest.raises(sureshot.BoundsError, match="row 50 is too large"):
        sureshot.top_k(data, np.full((4, 15), 1e200), 2, method="exact")


def test_norms_that_are_not_what_was_promised_are_refused() -> None:
    rng = np.random.default_rng(11)
    data = rng.standard_normal((300, 25), dtype=np.float32)
    norms = np.linalg.norm(data, axis=1)
    norms[200] *= 2
    bounds = sureshot.Bounds(norms=norms, norms_exact=True)
    with pytest.raises(sureshot.BoundsError, match="data row 200 has a norm"):
        sureshot.top_k(data, data[:5], 3, metric="cosine", bounds=bounds, method="exact")


def test_threads_and_groups_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(12)
    data = rng.standard_normal((3000, 70), dtype=np.float32)
    queries = rng.standard_normal((40, 70))
    one = sureshot.top_k(data, queries, 8, method="exact", threads=1)
    for threads, most in ((2, 1024), (3, 7), (1, 1)):
        monkeypatch.setattr(product, "MOST_QUERIES", most)
        other = sureshot.top_k(data, queries, 8, method="exact", threads=threads)
        np.testing.assert_array_equal(one.indices, other.indices)
        np.testing.assert_array_equal(one.scores, other.scores)
        for ours, theirs in zip(one.queries, other.queries, strict=True):
            assert ours.work.numbers_read == theirs.work.numbers_read
            assert ours.work.exact_scores == theirs.work.exact_scores


def test_work_and_progress(by_product: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_batch, "PRODUCTS_PER_REPORT", 1)
    monkeypatch.setattr(exact_batch, "FEWEST_PER_REPORT", 2)
    rng = np.random.default_rng(13)
    data = rng.standard_normal((2100, 16), dtype=np.float32)
    reported: list[sureshot.RoundInfo] = []
    multiplied: list[int] = []  # how many had been multiplied when a query was reported

    def report(info: sureshot.RoundInfo) -> None:
        reported.append(info)
        multiplied.append(sum(by_product))

    found = sureshot.top_k(data, rng.standard_normal((4, 16)), 3, method="exact", progress=report)
    assert multiplied == [2, 2, 4, 4]
    assert tuple(reported) == found.rounds
    for query, one in enumerate(found.queries):
        rounds = [info for info in reported if info.query == query]
        assert [info.arms for info in rounds] == [0]
        assert rounds == list(one.rounds)
        assert rounds[-1].threshold == one.scores[-1]
        assert 3 <= one.work.exact_scores < 20
        assert one.work.numbers_read == (2100 + one.work.exact_scores) * 16


def test_little_is_not_multiplied(by_product: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    data = np.random.default_rng(14).standard_normal((50, 30), dtype=np.float32)
    for queries, metric in ((data[:2], "ip"), (data[:20], "ip"), (data[:20], "l1")):
        found = sureshot.top_k(data, queries, 1, metric=metric, method="exact")
        assert found.queries[0].work.exact_scores == 50
    assert by_product == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 7, 8, 97, 1535])
def test_queries_are_rounded_to_one_size(dtype: Any, width: int) -> None:
    rng = np.random.default_rng(width)
    queries = rng.standard_normal((6, width)) * np.ldexp(1.0, [[0], [90], [-90], [3], [0], [0]])
    queries[4] = 0
    values = np.empty(queries.shape, dtype)
    units, norms, lost = np.empty((3, 6))
    assert _native.round_queries(queries, 2.0**100, Team(2), values, units, norms, lost)
    scaled = queries * units[:, None]
    np.testing.assert_array_equal(values, scaled.astype(dtype))
    sizes = np.abs(scaled).max(axis=1)
    assert ((sizes >= 0.5) & (sizes < 1) | (sizes == 0)).all()
    assert units[4] == 1
    np.testing.assert_allclose(norms, [math.hypot(*own) for own in scaled], rtol=1e-12)
    np.testing.assert_allclose(
        lost, [math.hypot(*own) for own in scaled - values.astype(float)], rtol=1e-12
    )
    for size in (2.0**120, 2.0**-120):
        assert not _native.round_queries(
            size * queries[[0, 3]], 2.0**100, Team(1), values[:2], units[:2], norms[:2], lost[:2]
        )


def test_the_best_of_each_row_of_scores() -> None:
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 9, (33, 40)).astype(float)
    for k in (1, 7, 40):
        best, found = np.empty((33, k), np.int64), np.empty((33, k))
        _native.best_of_rows(scores, k, Team(2), best, found)
        expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(best, expected)
        np.testing.assert_array_equal(found, np.take_along_axis(scores, expected, axis=1))
    with pytest.raises(ValueError, match="fewer than k scores"):
        _native.best_of_rows(scores, 41, Team(1), np.empty((33, 41), np.int64), np.empty((33, 41)))
