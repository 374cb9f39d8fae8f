"""Sizes, values and layouts at the edge, for every method and metric, against the oracle."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.search import product
from tests.conftest import CERTAIN, LAYOUTS, assert_top_k, oracle, random_data, span
from tests.racing import raced  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot import TopK
    from sureshot._types import Array, Floats

# Epsilons at which a method samples: about the size of the scores, and far above.
COARSE = (300.0, 1e4)


def normal(*shape: int) -> Floats:
    return np.random.default_rng(shape).standard_normal(shape)


def signed(shape: tuple[int, int], scale: float = 1.0, dtype: str = "float64") -> Array:
    return (np.random.default_rng(shape).uniform(-1, 1, shape) * scale).astype(dtype)


def search(data: Array, query: Any, k: int, metric: str, method: str, **more: Any) -> TopK:
    # Single coordinates make a race of a row as short as these.
    arguments: dict[str, Any] = {"delta": CERTAIN, "bounds": span(data), "rng": 7, "block": 1}
    arguments |= more
    return sureshot.top_k(data, query, k, metric=metric, method=method, **arguments)


def assert_scores(found: TopK, data: Array, query: Floats, metric: str) -> None:
    truth, allowance = oracle(data, query, metric)
    np.testing.assert_allclose(found.scores, truth[found.indices], atol=allowance.max(), rtol=0)


def answer_or_refusal(*arguments: Any, **more: Any) -> TopK | str:
    try:
        return search(*arguments, **more)
    except ValueError as error:
        return str(error)


every_arm = pytest.mark.no_race("every arm is asked for")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "uint8"])
@pytest.mark.parametrize(
    ("n_arms", "size", "k"),
    [
        pytest.param(1, 1, 1, marks=every_arm),
        pytest.param(1, 7, 1, marks=every_arm),
        (7, 1, 3),
        pytest.param(9, 1, 9, marks=every_arm),
        pytest.param(5, 7, 5, marks=every_arm),
        (9, 7, 4),
        (9, 97, 1),
        pytest.param(9, 97, 9, marks=every_arm),
        (30, 1535, 4),
    ],
)
def test_sizes(method: str, metric: str, n_arms: int, size: int, k: int, dtype: str) -> None:
    rng = np.random.default_rng([n_arms, size, k])
    data = random_data(rng, (n_arms, size), dtype)
    data[data == 0] = 1  # a row of zeros has no cosine
    query = rng.standard_normal(size)
    assert_top_k(search(data, query, k, metric, method), data, query, k, metric)


# float32 data whose sums cancel: exact in float64, nonsense in float32.
CANCELLING = np.array(
    [[1e8, 1, -1e8, 0], [1e8, 2, 0, -1e8], [-1e8, 1.5, 1e8, 0], [0, 1.75, 1e8, -1e8]], np.float32
)
EVERYDAY: dict[str, tuple[Array, Floats]] = {
    "zero query": (signed((9, 97)), np.zeros(97)),
    "constant data": (np.full((9, 97), 0.3), normal(97)),
    "constant integers": (np.full((9, 97), 3, np.int16), normal(97)),
    "equal rows": (
        np.repeat(signed((3, 97)), 3, axis=0)[[4, 0, 8, 1, 6, 2, 7, 3, 5]],
        np.ones(97),
    ),
    "ties of different rows": (np.eye(9, dtype=np.int8), np.ones(9)),
    "negative": (-2 - signed((9, 97)), np.abs(normal(97))),
    "mixed scales": (signed((9, 97)) * np.logspace(-6, 6, 97), normal(97)),
    "query mostly zero": (signed((9, 97)), np.where(np.arange(97) == 13, 2.0, 0.0)),
    "cancelling": (CANCELLING, np.ones(4)),
    "float32 limits": (signed((9, 97), 3e38, "float32"), normal(97)),
    "float32 subnormals": (signed((9, 97), 1e-40, "float32"), normal(97)),
    "tiny query": (signed((9, 97)), normal(97) * 1e-100),
}


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.no_race("all scores are 0, or there are none"))
        if name == "zero query"
        else name
        for name in EVERYDAY
    ],
)
def test_values(method: str, metric: str, name: str, k: int) -> None:
    data, query = EVERYDAY[name]
    if metric == "cosine" and not query.any():
        with pytest.raises(ValueError, match="not all zeros"):
            search(data, query, k, metric, method)
        return
    assert_top_k(search(data, query, k, metric, method), data, query, k, metric)


@pytest.mark.parametrize("k", [1, 2, 5, pytest.param(8, marks=every_arm)])
def test_among_equals_the_smaller_index_comes_first(method: str, metric: str, k: int) -> None:
    # Two kinds of row, each in several arrangements of small integers: the ties are exact.
    rows = [[-1, 2, 3], [2, -1, 1], [3, 2, -1], [1, 2, -1], [2, 3, -1], [-1, 1, 2], [1, -1, 2]]
    data = np.array([*rows, rows[0]], np.int8)
    query = np.array([1.0, 1.0, 1.0])
    scores, _ = oracle(data, query, metric)
    sign = 1 if metric in ("sqeuclidean", "l1") else -1
    expected = np.lexsort((np.arange(8), sign * scores))[:k]
    result = search(data, query, k, metric, method)
    assert result.indices.tolist() == expected.tolist()


@pytest.mark.no_race("what is refused, and what leaves the range of float64, is not raced")
@pytest.mark.parametrize("which", ["data", "query"])
@pytest.mark.parametrize("scale", [1e-320, 1e-308, 1e-200, 1e-160, 1e150, 1e200, 1e300, 1.7e308])
def test_extreme_values_are_right_or_refused(
    method: str, metric: str, scale: float, which: str
) -> None:
    data, query = np.array([[3, 4, 1], [4, 3, 0], [-10, 10, 2], [2, 2, 2]]) / 10, np.ones(3)
    data, query = (data * scale, query) if which == "data" else (data, query * scale)
    with np.errstate(over="ignore"):
        truth, _ = oracle(data, query, metric)
    result = answer_or_refusal(data, query, 2, metric, method, block=None)
    if isinstance(result, str):
        # Squares leave the range of float64 before the scores do.
        assert metric in ("cosine", "sqeuclidean") or not np.isfinite(truth).all()
        assert re.search("too large|too small|norm 0", result)
    else:
        assert_top_k(result, data, query, 2, metric)


@pytest.mark.parametrize("epsilon", [0.0, *COARSE])
def test_limits_of_float32_data_mean_its_nearest_numbers(method: str, epsilon: float) -> None:
    # float32(0.1) is above 0.1 and float32(0.7) below 0.7: both lie within (0.1, 0.7).
    data = np.array([0.1, 0.3, 0.7], np.float32)[np.digitize(signed((9, 97)), [-0.3, 0.3])]
    query = normal(97)
    found = search(data, query, 3, "ip", method, bounds=(0.1, 0.7), epsilon=epsilon)
    assert_scores(found, data, query, "ip")
    if epsilon == 0:
        assert_top_k(found, data, query, 3, "ip")


@pytest.mark.parametrize("epsilon", COARSE)
@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1 - 1e-16])
def test_every_legal_delta(method: str, metric: str, epsilon: float, delta: float) -> None:
    data, query = signed((30, 97)), normal(97)
    found = search(data, query, 2, metric, method, epsilon=epsilon, delta=delta)
    assert_scores(found, data, query, metric)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(method: str, metric: str, layout: str, tmp_path: Path) -> None:
    values, query = signed((31, 97), 1, "float32"), normal(97)
    data = LAYOUTS[layout](values, tmp_path)
    plain = search(np.ascontiguousarray(values), query, 4, metric, method)
    found = search(data, query, 4, metric, method)
    assert_top_k(found, data, query, 4, metric)
    np.testing.assert_array_equal(found.scores, plain.scores)
    np.testing.assert_array_equal(found.indices, plain.indices)


def test_one_row_repeated_without_memory(method: str, metric: str) -> None:
    data, query = np.broadcast_to(np.abs(normal(97)), (9, 97)), normal(97)
    found = search(data, query, 3, metric, method)
    assert found.indices.tolist() == [0, 1, 2]
    assert_top_k(found, data, query, 3, metric)


SELECTED = np.array([28, 3, 17, 5, 9, 20])


@pytest.mark.parametrize(
    "where",
    [np.isin(np.arange(31), SELECTED), SELECTED, SELECTED.astype(np.uint8), SELECTED.tolist()],
    ids=["mask", "indices", "uint8", "list"],
)
def test_where(method: str, metric: str, where: Any) -> None:
    data, query = signed((31, 97)), normal(97)
    data[0] = np.nan  # never met
    found = search(data, query, 3, metric, method, where=where, bounds=(-1, 1))
    chosen = np.sort(SELECTED)
    inside = search(data[chosen], query, 3, metric, method, bounds=(-1, 1))
    np.testing.assert_array_equal(found.scores, inside.scores)
    np.testing.assert_array_equal(found.indices, chosen[inside.indices])
    assert_top_k(found, np.nan_to_num(data, nan=0.5), query, 3, metric, where)


@pytest.mark.parametrize("epsilon", [0.0, *COARSE])
@pytest.mark.parametrize("count", [1, 3])
def test_several_queries_are_the_single_ones(
    method: str, metric: str, epsilon: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where a pass that all queries share costs less than races, they are answered exactly: tests/test_batch.py.
    monkeypatch.setattr(product, "cost_together", lambda *_: np.inf)
    data, queries = signed((40, 97)), normal(count, 97)
    arguments: dict[str, Any] = {"metric": metric, "method": method, "epsilon": epsilon}
    if metric == "cosine":  # without norms the first query finds them: tests/test_cosine.py
        low, high = span(data)
        norms = np.linalg.norm(data, axis=1)
        arguments["bounds"] = sureshot.Bounds(low=low, high=high, norms=norms, norms_exact=True)
    together = search(data, queries, 3, **arguments, delta=0.3)
    assert together.scores.shape == together.indices.shape == (count, 3)
    assert len(together.queries) == count
    for position, query in enumerate(queries):
        alone, one = search(data, query, 3, **arguments, delta=0.3), together.queries[position]
        for found in (one.scores, together.scores[position]):
            np.testing.assert_array_equal(found, alone.scores)
        for found in (one.indices, together.indices[position]):
            np.testing.assert_array_equal(found, alone.indices)
        assert one.certificate == alone.certificate
        assert [(info.arms, info.pulls, info.threshold) for info in one.rounds] == [
            (info.arms, info.pulls, info.threshold) for info in alone.rounds
        ]


@pytest.mark.parametrize("kind", ["int64", "int8", "uint16", "float32", "list"])
def test_the_type_of_the_query_changes_nothing(method: str, metric: str, kind: str) -> None:
    data, whole = signed((31, 97)), np.arange(97)
    query = whole.tolist() if kind == "list" else whole.astype(kind)
    found = search(data, query, 3, metric, method)
    plain = search(data, whole.astype(np.float64), 3, metric, method)
    np.testing.assert_array_equal(found.scores, plain.scores)
    np.testing.assert_array_equal(found.indices, plain.indices)


@pytest.mark.parametrize("metric", ["ip", "l1"])
def test_as_many_threads_as_anyone_may_ask_for(method: str, metric: str) -> None:
    data, query = signed((31, 97)), normal(97)
    found = search(data, query, 3, metric, method, threads=2**31)
    assert_top_k(found, data, query, 3, metric)


@pytest.mark.parametrize("k", [1, 3, pytest.param(9, marks=every_arm)])
@pytest.mark.parametrize("size", [1, 7, 97, 1535])
def test_best_arms_are_those_of_the_largest_mean(method: str, size: int, k: int) -> None:
    table = np.random.default_rng(size).uniform(-2, 3, (9, size))
    where = None if k == 9 else [8, 1, 2, 6]
    found = sureshot.best_arms(
        lambda arms, js: table[np.ix_(arms, js)],
        *(9, size),
        k,
        epsilon=0,
        delta=CERTAIN,
        bounds=(-2, 3),
        method=method,
        where=where,
        rng=7,
    )
    assert_top_k(found, table, np.full(size, 1 / size), k, "ip", where)
    assert found.certificate.scores == "exact"
