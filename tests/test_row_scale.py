"""`row_scale`: the score is the inner product times a known factor, however it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot import Bounds, BoundsError
from sureshot.search.methods import METHODS
from tests.conftest import CERTAIN, LAYOUTS
from tests.racing import race_any_size

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot import TopK
    from sureshot._types import Array, Floats

every_metric = pytest.mark.parametrize("metric", ["ip", "abs-ip"])


@pytest.fixture(autouse=True)
def _race_short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    race_any_size(monkeypatch)


def problem(n_arms: int = 97, width: int = 1535) -> tuple[Array, Floats, Floats]:
    rng = np.random.default_rng([n_arms, width])
    patterns = rng.standard_normal((5, width))
    data = rng.standard_normal((n_arms, 5)) @ patterns + 0.3 * rng.standard_normal((n_arms, width))
    return data.astype(np.float32), rng.standard_normal(5) @ patterns, rng.lognormal(0, 1, n_arms)


def kinds(data: Array) -> dict[str, Any]:
    return {
        "limits": (float(data.min()), float(data.max())),
        "norms": Bounds(norms=np.linalg.norm(data, axis=1)),
        "scan": sureshot.scan(data),
        "none": None,
    }


def best(data: Array, query: Floats, factors: Floats, metric: str, k: int) -> list[int]:
    scores = factors * (data.astype(np.float64) @ query)
    ranked = np.abs(scores) if metric == "abs-ip" else scores
    return [int(row) for row in np.argsort(-ranked, kind="stable")[:k]]


@every_metric
@pytest.mark.parametrize("kind", ["limits", "norms", "scan", "none"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_answer_is_that_of_scaled_rows(metric: str, kind: str, order: Any) -> None:
    data, query, factors = problem()
    data = np.asarray(data, order=order)
    found = sureshot.top_k(
        data,
        query,
        4,
        metric=metric,
        bounds=kinds(data)[kind],
        row_scale=factors,
        rng=0,
        delta=CERTAIN,
    )
    assert found.indices.tolist() == best(data, query, factors, metric, 4)
    sums = data[found.indices].astype(np.float64) @ query
    expected = factors[found.indices] * (np.abs(sums) if metric == "abs-ip" else sums)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-12)
    assert not found.certificate.exact  # it was a race


@every_metric
@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_knows_the_factors(metric: str, method: str) -> None:
    data, query, factors = problem(9, 97)
    k = 1 if not METHODS[method].any_k else 2
    budget: dict[str, Any] = {"budget": 1.0, "replacement": False}
    found = sureshot.top_k(
        data,
        query,
        k,
        metric=metric,
        method=method,
        bounds=kinds(data)["limits"],
        row_scale=factors,
        delta=1e-3,
        rng=0,
        **(budget if METHODS[method].budget == "required" else {}),
    )
    assert found.indices.tolist() == best(data, query, factors, metric, k)


def course(found: TopK) -> dict[str, Any]:
    told = found.to_dict()
    del told["work"]["seconds"]
    return told


def test_nothing_else_changes_the_answer(tmp_path: Path) -> None:
    """Threads, memory layout, the type of the factors, where, and a batch."""
    data, query, factors = problem()
    factors = factors.astype(np.float32).astype(np.float64)
    scan = sureshot.scan(data)
    options: dict[str, Any] = {"bounds": scan, "rng": 1, "block": 16}
    plain = sureshot.top_k(data, query, 5, row_scale=factors, **options)
    assert plain.work.share < 1
    for threads in (1, 2, 3):
        again = sureshot.top_k(data, query, 5, row_scale=factors, threads=threads, **options)
        assert course(again) == course(plain)
    for layout in LAYOUTS:
        stored = LAYOUTS[layout](data, tmp_path)
        again = sureshot.top_k(stored, query, 5, row_scale=factors, **options)
        assert again.indices.tolist() == plain.indices.tolist()
        np.testing.assert_array_equal(again.scores, plain.scores)
    for given in (factors.astype(np.float32), factors.tolist(), np.repeat(factors, 2)[::2]):
        assert course(sureshot.top_k(data, query, 5, row_scale=given, **options)) == course(plain)
    together = sureshot.top_k(data, np.stack([-query, query]), 5, row_scale=factors, **options)
    np.testing.assert_array_equal(together.scores[1], plain.scores)
    assert together.queries[1].work.numbers_read == plain.work.numbers_read
    rows = np.arange(0, 97, 2)
    some = sureshot.top_k(data, query, 5, row_scale=factors, where=rows, **options)
    assert some.indices.tolist() == rows[best(data[rows], query, factors[rows], "ip", 5)].tolist()


def test_factors_of_one_change_nothing() -> None:
    data, query, _ = problem()
    for bounds in kinds(data).values():
        plain = sureshot.top_k(data, query, 3, bounds=bounds, rng=2)
        ones = sureshot.top_k(data, query, 3, bounds=bounds, rng=2, row_scale=np.ones(97))
        assert course(ones) == course(plain)


def test_cosine_is_the_case_of_one_over_the_norms() -> None:
    data, query, _ = problem()
    norms = np.linalg.norm(data.astype(np.float64), axis=1)
    scaled = sureshot.top_k(
        data, query, 4, row_scale=1 / (norms * np.linalg.norm(query)), bounds=sureshot.scan(data)
    )
    cosine = sureshot.top_k(data, query, 4, metric="cosine", method="exact")
    assert scaled.indices.tolist() == cosine.indices.tolist()
    np.testing.assert_allclose(scaled.scores, cosine.scores, rtol=1e-12)


@pytest.mark.parametrize("method", ["betting", "exact", "bounded-me"])
def test_factors_at_the_ends_of_float64(method: str) -> None:
    data, query, factors = problem()
    factors[3], factors[5] = 5e-324, 1e-300
    factors[8] = 1e250
    expected = best(data, query, factors, "ip", 3)
    found = sureshot.top_k(
        data, query, 3, row_scale=factors, method=method, bounds=kinds(data)["limits"], rng=0
    )
    assert found.indices.tolist() == expected
    factors[8] = 1e306
    with pytest.raises(BoundsError, match="score of data row 8 is too large for float64"):
        sureshot.top_k(
            data, query, 97, row_scale=factors, method=method, bounds=kinds(data)["limits"]
        )
