"""Data and queries from the smallest to the largest numbers of float64: right, or refused, at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import sureshot
from sureshot.prepare.query_range import in_range
from tests.conftest import assert_top_k

if TYPE_CHECKING:
    from sureshot._types import Floats

ARMS, WIDTH, K = 60, 1100, 3
SIZES = (5e-324, 1e-310, 1e-200, 1e-163, 1.0, 1e100, 1e155, 1e300)


def low_rank(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return rows that can be told apart by few coordinates, and a query."""
    patterns = rng.standard_normal((4, WIDTH))
    data = rng.standard_normal((ARMS, 4)) @ patterns + 0.1 * rng.standard_normal((ARMS, WIDTH))
    return data, rng.standard_normal(4) @ patterns


def bounds_of(kind: str, data: Floats) -> Any:
    if kind == "limits":
        return min(2 * data.min(), -1e-320), max(2 * data.max(), 1e-320)
    return "scan" if kind == "scan" else None


def outcome(*arguments: Any, **options: Any) -> sureshot.TopK | str:
    try:
        return sureshot.top_k(*arguments, **options)
    except sureshot.BoundsError as error:
        return str(error).partition(" is ")[2]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["none", "limits", "scan"])
@pytest.mark.parametrize("metric", ["ip", "abs-ip", "l1", "sqeuclidean"])
def test_numbers_of_every_size(metric: str, kind: str, order: Literal["C", "F"]) -> None:
    """What is refused is what the exact product cannot hold, and everything else is right."""
    values, direction = low_rank(np.random.default_rng(1))
    answered = 0
    for data_size in SIZES:
        with np.errstate(under="ignore"):
            data = np.asarray(np.clip(values * data_size, -1e305, 1e305), order=order)
        for query_size in SIZES:
            with np.errstate(under="ignore"):
                query = np.clip(direction * query_size, -1e305, 1e305)
            bounds = bounds_of(kind, data)
            exact = outcome(data, query, K, metric=metric, method="exact")
            found = outcome(data, query, K, metric=metric, bounds=bounds, rng=0, delta=1e-9)
            if isinstance(exact, str) or isinstance(found, str):
                assert exact == found == "too large for float64"
                continue
            np.testing.assert_allclose(found.scores, exact.scores, rtol=1e-12)
            if len(np.unique(exact.scores)) == K:  # the smallest scores are all 0
                np.testing.assert_array_equal(found.indices, exact.indices)
            answered += 1
    assert answered > 0.5 * len(SIZES) ** 2


@pytest.mark.parametrize("kind", ["none", "limits", "scan"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_huge_weight_among_tiny_ones(kind: str, order: Literal["C", "F"]) -> None:
    rng = np.random.default_rng(2)
    data, query = low_rank(rng)
    query *= 1e-300
    query[700] = 1.0
    data[:, 700] = np.round(data[:, 700])  # many ties, which the tiny ones must break
    stored = np.asarray(data, order=order)
    for seed in range(5):
        found = sureshot.top_k(stored, query, K, bounds=bounds_of(kind, data), rng=seed, delta=1e-9)
        assert_top_k(found, data, query, K, "ip")


def test_a_tiny_part_of_the_query_is_read_if_the_data_is_huge_there() -> None:
    """Its squares vanish: norm bets must not take such a block for a constant."""
    rng = np.random.default_rng(3)
    data, query = low_rank(rng)
    query[512:544] = 1e-170
    data[:, 512:544] = 1e172 * rng.standard_normal((ARMS, 32))
    bounds = sureshot.scan(data)
    for seed in range(5):
        found = sureshot.top_k(data, query, K, bounds=bounds, rng=seed, delta=1e-9)
        assert_top_k(found, data, query, K, "ip")


@pytest.mark.parametrize("size", SIZES)
def test_a_scan_has_norms_of_every_size(size: float) -> None:
    with np.errstate(under="ignore"):
        data = np.clip(low_rank(np.random.default_rng(4))[0] * size, -1e305, 1e305)
    data[5] = 0
    scales = np.maximum(np.abs(data).max(axis=1), 5e-324)
    truth = [scale * math.hypot(*(row / scale)) for row, scale in zip(data, scales, strict=True)]
    norms = sureshot.scan(data).norms
    np.testing.assert_allclose(np.asarray(norms), truth, rtol=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_only_queries_without_squares_are_scaled(size: float) -> None:
    with np.errstate(under="ignore"):
        query = size * np.random.default_rng(5).uniform(0.5, 1, 50)
    scaled, unit = in_range(query, exactly=True)
    assert (scaled * unit == query).all()
    largest = float(np.abs(scaled).max())
    assert 2.0**-301 <= largest <= 2.0**300
    if 2.0**-300 < np.abs(query).max() < 2.0**299:
        assert unit == 1
        assert scaled is query


@pytest.mark.parametrize("method", ["betting", "exact"])
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64])
def test_no_number_of_a_query_vanishes_beside_a_large_one(
    kind: type[np.generic], many: bool, method: str
) -> None:
    data = np.zeros((3, 20), kind)
    data[1, 3:5] = 100
    data[2, 2] = 1
    query = np.full(20, 2.0**-900)
    query[2] = 2.0**500
    queries = np.stack([query, query[::-1]]) if many else query
    found = sureshot.top_k(data, queries, 3, method=method)
    assert np.atleast_2d(found.indices)[0].tolist() == [2, 1, 0]
    assert np.atleast_2d(found.scores)[0].tolist() == [2.0**500, 200 * 2.0**-900, 0]
    by_angle = sureshot.top_k(data[1:], query, 1, metric="cosine")
    assert by_angle.scores == pytest.approx([1.0])
