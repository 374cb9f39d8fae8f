"""The score of an arm has the same bits whatever way it is computed, with zeros anywhere in the query.

A race passes over blocks in which the query is zero. What is evaluated on the way, at its end, under a budget, by a
screen, by a matrix product and by the plain method is one and the same sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot import _native
from tests.conftest import ELEMENT_TYPES, random_data
from tests.test_kernels import sum_in_lanes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sureshot._types import Array, Floats, Ints

N_ARMS, WIDTH, K = 60, 1531, 4

# Where the query is zero: whole blocks of any size at the ends, in the middle, and scattered; and nowhere.
ZEROS: dict[str, Callable[[Ints], Any]] = {
    "nowhere": lambda j: j < 0,
    "at the start": lambda j: j < 333,
    "at the end": lambda j: j >= 1111,
    "at both ends": lambda j: (j < 17) | (j >= 1500),
    "in the middle": lambda j: (j >= 301) & (j < 1202),
    "in pieces of many sizes": lambda j: np.sqrt(j).astype(int) % 2 == 0,
    "in pieces of a cache line": lambda j: j // 16 % 2 == 0,
    "nearly everywhere": lambda j: j % 97 != 13,
    "everywhere but at one coordinate": lambda j: j != 700,
}


@pytest.fixture(scope="module", params=list(ZEROS))
def query(request: pytest.FixtureRequest) -> Floats:
    full = np.random.default_rng(5).standard_normal(WIDTH)
    zeros: Array = ZEROS[request.param](np.arange(WIDTH))
    return np.where(zeros, 0.0, full)


def data_of(dtype: str, order: str) -> Array:
    """Return rows of which some fit a positive query better: not all of them are evaluated."""
    data = random_data(np.random.default_rng(3), (N_ARMS, WIDTH), dtype)
    return np.asarray(data, order="C" if order == "C" else "F")


def ways(limits: tuple[float, float]) -> Iterator[dict[str, Any]]:
    """Give options with which a search takes every way to its scores."""
    loose = {"epsilon": 1e-3, "delta": 0.5}
    yield {"method": "exact"}
    yield {"bounds": limits}
    yield {"bounds": limits, "block": 1, **loose}
    yield {"bounds": limits, "block": 7, **loose}
    yield {"bounds": "scan", "threads": 2}
    yield {"bounds": limits, "budget": 0.2}
    yield {"bounds": limits, "budget": 0.5, "block": 3}
    yield {"bounds": limits, "method": "bounded-me", "epsilon": 1e-3}


def assert_model(found: sureshot.TopK, expected: Floats) -> None:
    """Fail unless every score that was returned is that of its arm in the model, to the last bit."""
    for scores, indices, model in zip(
        np.atleast_2d(found.scores),
        np.atleast_2d(found.indices),
        np.atleast_2d(expected),
        strict=True,
    ):
        np.testing.assert_array_equal(scores, model[indices])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_every_way_to_a_score_gives_the_same_bits(dtype: str, order: str, query: Floats) -> None:
    data = data_of(dtype, order)
    numbers = data.astype(np.float64)
    limits = (float(numbers.min()) - 1, float(numbers.max()) + 1)
    expected = sum_in_lanes(numbers * query)
    for way in ways(limits):
        assert_model(sureshot.top_k(data, query, K, rng=1, **way), expected)


@pytest.mark.parametrize("order", ["C", "F"])
def test_batches_and_scaled_rows_have_the_same_bits(order: str, query: Floats) -> None:
    data = data_of("float32", order)
    numbers = data.astype(np.float64)
    limits = (float(numbers.min()) - 1, float(numbers.max()) + 1)
    queries = np.stack([query, -query, np.roll(query, 8)])
    expected = np.stack([sum_in_lanes(numbers * one) for one in queries])
    scale = np.linspace(0.5, 2, N_ARMS)
    for way in ways(limits):
        assert_model(sureshot.top_k(data, queries, K, rng=1, **way), expected)
        scaled = sureshot.top_k(data, query, K, rng=1, row_scale=scale, **way)
        assert_model(scaled, scale * expected[0])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("metric", ["abs-ip", "sqeuclidean", "l1", "cosine"])
def test_every_metric_gives_the_same_bits(metric: str, order: str, query: Floats) -> None:
    data = data_of("float32", order)
    # Where low and high are the same, the distance of all arms is the same, too, and not zero.
    data[:, 40:80] = 0.25
    low, high = data.min(axis=0).astype(np.float64), data.max(axis=0).astype(np.float64)
    plain = sureshot.top_k(data, query, N_ARMS, metric=metric, method="exact")
    expected = np.empty(N_ARMS)
    expected[plain.indices] = plain.scores
    for bounds in ((low, high), sureshot.scan(data)):
        for more in ({}, {"budget": 0.3}, {"block": 1, "epsilon": 1e-2, "delta": 0.5}):
            options: dict[str, Any] = {"metric": metric, "bounds": bounds, "rng": 2, **more}
            assert_model(sureshot.top_k(data, query, K, **options), expected)
            both = sureshot.top_k(data, np.stack([query, query]), K, **options)
            assert_model(both, np.stack([expected, expected]))


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("level", _native.instruction_sets())
def test_every_instruction_set_gives_the_same_bits(level: str, layout: str, query: Floats) -> None:
    best = _native.instruction_set()
    _native.use_instruction_set(level)
    try:
        for dtype in ("float16", "float32", "float64", "int8"):
            data = data_of(dtype, layout)
            numbers = data.astype(np.float64)
            limits = (float(numbers.min()) - 1, float(numbers.max()) + 1)
            found = sureshot.top_k(data, query, K, bounds=limits, rng=1)
            assert_model(found, sum_in_lanes(numbers * query))
    finally:
        _native.use_instruction_set(best)
