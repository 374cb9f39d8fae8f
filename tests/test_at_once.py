"""One native call in place of a search: the same answer, certificate and work, and the same errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import sureshot
from sureshot import Bounds, BoundsError, _native, _validate, api
from sureshot._native import Team

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.result import TopK

METRICS = ("ip", "abs-ip", "sqeuclidean", "l1", "cosine")
TYPES = (np.float32, np.float16, np.float64, np.int8)


def refuse(*_: object, **__: object) -> None:
    pytest.fail("a search was set up")


def known(data: Array, metric: str) -> dict[str, Any]:
    """Return the arguments that a metric needs."""
    if metric != "cosine":
        return {}
    norms = np.linalg.norm(data.astype(np.float64), axis=1)
    return {"metric": metric, "bounds": Bounds(norms=norms, norms_exact=True)}


def both_ways(monkeypatch: pytest.MonkeyPatch, *arguments: Any, **named: Any) -> tuple[TopK, TopK]:
    """Return what one call finds, and what a search finds for the same arguments."""
    at_once = sureshot.top_k(*arguments, **named)
    with monkeypatch.context() as patch:
        patch.setattr(api, "answer_at_once", lambda *_: None)
        return at_once, sureshot.top_k(*arguments, **named)


def content(found: TopK) -> dict[str, Any]:
    """Return all of a result, and of that of each query, but their times."""
    whole = found.to_dict()
    for one in (whole, *whole["queries"]):
        del one["work"]["seconds"]
    return whole


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", ["betting", "exact"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_small_data_needs_no_search(
    monkeypatch: pytest.MonkeyPatch, metric: str, method: str, order: Any
) -> None:
    data = np.random.default_rng(0).standard_normal((300, 97), dtype=np.float32)
    data = np.array(data, order=order)
    named = {"metric": metric, **known(data, metric)}
    if not (order == "F" and metric == "cosine" and method == "betting"):  # sums decide there
        monkeypatch.setattr(api, "prepare_top_k", refuse)
    assert sureshot.top_k(data, data[7], 3, method=method, **named).algorithm == "exact"


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1, 97), (20, 1023), (1500, 7), (900, 200)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_it_is_what_a_search_finds(
    monkeypatch: pytest.MonkeyPatch, metric: str, dtype: type, shape: tuple[int, int], order: Any
) -> None:
    rng = np.random.default_rng(1)
    data: Array = (20 * rng.standard_normal(shape)).astype(dtype, order=order)
    query = rng.standard_normal(shape[1]).astype(np.float32)
    named: dict[str, Any] = {"metric": metric, **known(data, metric)}
    if metric == "ip":
        named["row_scale"] = rng.random(len(data)) + 0.5
    if len(data) > 100:
        named["where"] = np.arange(3, len(data) - 2, 2 if metric != "abs-ip" else 40)
    limits = Bounds(low=-1000.0, high=1000.0)
    for method in ("betting", "exact"):
        for k in {1, min(10, len(data))}:
            first, second = both_ways(monkeypatch, data, query, k, method=method, rng=1, **named)
            assert content(first) == content(second)
            limited = {"bounds": limits, "rng": 1, **named}
            first, second = both_ways(monkeypatch, data, query, k, method=method, **limited)
            assert content(first) == content(second)


@pytest.mark.parametrize("metric", ["ip", "abs-ip", "sqeuclidean", "l1"])
@pytest.mark.parametrize("method", ["betting", "exact"])
def test_a_small_batch_needs_no_search(
    monkeypatch: pytest.MonkeyPatch, metric: str, method: str
) -> None:
    data = np.random.default_rng(0).standard_normal((300, 97), dtype=np.float32)
    monkeypatch.setattr(api, "prepare_top_k", refuse)
    found = sureshot.top_k(data, data[:7], 3, metric=metric, method=method)
    assert found.algorithm == "exact"
    assert len(found.queries) == 7


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1, 97), (20, 1023), (100, 100), (1500, 7), (900, 200)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_batch_is_what_a_search_finds(
    monkeypatch: pytest.MonkeyPatch,
    metric: str,
    dtype: type,
    shape: tuple[int, int],
    order: Literal["C", "F"],
) -> None:
    rng = np.random.default_rng(5)
    data: Array = np.asarray(20 * rng.standard_normal(shape), order=order).astype(dtype)
    named: dict[str, Any] = {"metric": metric, **known(data, metric)}
    if metric == "abs-ip":
        named["row_scale"] = rng.random(len(data)) + 0.5
    if len(data) > 1000:
        named["where"] = np.arange(3, len(data) - 2, 2)
    for count in (1, 5, 70):
        queries = rng.standard_normal((count, shape[1])).astype(np.float32)
        for k in {1, min(10, len(data))}:
            first, second = both_ways(monkeypatch, data, queries, k, rng=1, **named)
            assert content(first) == content(second)


@pytest.mark.parametrize(
    "queries",
    [
        np.zeros((5, 100), np.float32),
        np.full((5, 100), 1e-9, np.float32),
        np.full((5, 100), 1e30, np.float32),
    ],
    ids=["zeros", "small", "large"],
)
@pytest.mark.parametrize("tied", [False, True])
def test_unusual_batches_are_searched(
    monkeypatch: pytest.MonkeyPatch, queries: Array, *, tied: bool
) -> None:
    data = np.random.default_rng(6).standard_normal((5000, 100), dtype=np.float32)
    if tied:
        data[:] = data[0]
    first, second = both_ways(monkeypatch, data, queries, 10, rng=1)
    assert content(first) == content(second)


def test_many_ties_are_evaluated_and_broken_by_index(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.tile(np.arange(200, dtype=np.float32), (400, 1))
    first, second = both_ways(monkeypatch, data, data[0], 5)
    assert content(first) == content(second)
    assert first.indices.tolist() == [0, 1, 2, 3, 4]
    assert first.work.exact_scores == 400


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_named(metric: str, value: float) -> None:
    data = np.random.default_rng(2).standard_normal((300, 100), dtype=np.float32)
    named = {"metric": metric, **known(data, metric)}
    data[123, 45] = value
    for query in (data[0], data[:20]):
        with pytest.raises(BoundsError, match=r"data row 123 (has the value|has a norm)"):
            sureshot.top_k(data, query, **named)


def test_other_norms_are_refused() -> None:
    data = np.random.default_rng(3).standard_normal((300, 100), dtype=np.float32)
    norms = np.linalg.norm(data.astype(np.float64), axis=1)
    for row, wrong, error in ((7, 1.01, BoundsError), (8, 0.0, ValueError)):
        given = norms.copy()
        given[row] *= wrong
        with pytest.raises(error, match=f"data row {row} has"):
            sureshot.top_k(
                data, data[0], metric="cosine", bounds=Bounds(norms=given, norms_exact=True)
            )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_promised_norms_are_checked_again_only_if_they_change(
    monkeypatch: pytest.MonkeyPatch, dtype: type
) -> None:
    data = np.random.default_rng(4).standard_normal((300, 100), dtype=np.float32)
    norms: Array = np.linalg.norm(data.astype(np.float64), axis=1).astype(dtype)
    bounds = Bounds(norms=norms, norms_exact=True)

    def best() -> TopK:
        return sureshot.top_k(data, data[0], 5, metric="cosine", bounds=bounds)

    before = best()
    with monkeypatch.context() as patch:
        patch.setattr(_validate.bounds, "_checked", refuse)
        assert content(best()) == content(before)
    for wrong, error in ((1.01, BoundsError), (0.0, ValueError), (np.nan, ValueError)):
        kept, norms[7] = norms[7], wrong * norms[7]
        with pytest.raises(error):
            best()
        norms[7] = kept
        assert content(best()) == content(before)


@pytest.mark.parametrize("width", [1, 7, 8, 97, 128, 129, 1535, 10_007])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norms_of_queries_have_the_bits_of_numpy(width: int, dtype: type) -> None:
    """On every instruction set, with any number of threads, however large or small the values are."""
    queries: Array = np.random.default_rng(4).standard_normal((5, width)).astype(dtype)
    queries *= np.ldexp(1.0, [0, 10, -30, 30, -100])[:, None].astype(dtype)
    values = queries.astype(np.float64)
    largest = np.abs(values).max(axis=1)
    expected = [
        size * math.sqrt(np.add.reduce(np.square(row / size)))
        for row, size in zip(values, largest, strict=True)
    ]
    used = _native.instruction_set()
    try:
        for name in _native.instruction_sets():
            _native.use_instruction_set(name)
            norms = np.empty(5)
            _native.query_norms(queries, Team(2), norms)
            assert norms.tolist() == expected
    finally:
        _native.use_instruction_set(used)


@pytest.mark.parametrize("factor", [5e-324, 1e300])
def test_extreme_factors_are_not_multiplied_with(factor: float) -> None:
    """Ends of scores so small that their errors round to nothing would tell nothing."""
    rng = np.random.default_rng(8)
    data = rng.standard_normal((400, 60), dtype=np.float32)
    queries = rng.standard_normal((30, 60), dtype=np.float32)
    found = sureshot.top_k(data, queries, 3, row_scale=np.full(400, factor))
    for query, one in zip(queries, found.queries, strict=True):
        alone = sureshot.top_k(data, query, 3, row_scale=np.full(400, factor))
        assert one.indices.tolist() == alone.indices.tolist()
        assert one.scores.tobytes() == alone.scores.tobytes()
        assert "matrix product" not in one.work.choice
