"""Where a cosine gets the norms of the rows, what that costs, and what the certificate says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot import Bounds, BoundsError
from sureshot.search.methods import METHODS
from tests.conftest import assert_top_k, span

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array, Floats

GIVEN = "as long as the given norms are the rows' norms"
SCANNED = "as long as the data is what was scanned"


@pytest.fixture(params=["C", "F"])
def data(request: pytest.FixtureRequest) -> Array:
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((300, 4)) * rng.lognormal(0, 1, (300, 1))
    values = factors @ rng.standard_normal((4, 6000)) + rng.standard_normal((300, 6000))
    return np.asarray(values, dtype=np.float32, order=request.param)


@pytest.fixture
def query(data: Array) -> Floats:
    return np.asarray(data[3] + 3 * np.random.default_rng(1).standard_normal(6000))


def norms_of(data: Array) -> Floats:
    return np.asarray(np.linalg.norm(data.astype(np.float64), axis=1))


def test_norms_of_a_scan_are_not_read_again(data: Array, query: Floats, tmp_path: Path) -> None:
    scan = sureshot.scan(data)
    scan.save(tmp_path / "scan.npz")
    for bounds in (scan, Bounds.load(tmp_path / "scan.npz")):
        found = sureshot.top_k(data, query, 4, metric="cosine", bounds=bounds, block=16, rng=0)
        assert_top_k(found, data, query, 4, "cosine")
        assert found.work.share < 0.9
        assert not found.certificate.exact
        assert found.certificate.unconditional
        assert found.certificate.assumption == f"unconditional {SCANNED}"


def test_given_norms_that_are_exact_are_taken(data: Array, query: Floats, tmp_path: Path) -> None:
    exact = Bounds(norms=norms_of(data), norms_exact=True)
    exact.save(tmp_path / "norms.npz")
    for bounds in (exact, Bounds.load(tmp_path / "norms.npz")):
        assert bounds.norms_exact is True
        assert repr(bounds) == "Bounds(norms, norms_exact)"
        found = sureshot.top_k(data, query, 4, metric="cosine", bounds=bounds, block=16, rng=0)
        assert_top_k(found, data, query, 4, "cosine")
        assert found.work.share < 0.9
        assert found.certificate.assumption == f"unconditional {GIVEN}"
    both = Bounds(low=-1e3, high=1e3, norms=norms_of(data), norms_exact=True)
    found = sureshot.top_k(data, query, 4, metric="cosine", bounds=both, rng=0, method="exact")
    assert found.certificate.assumption == GIVEN
    assert found.certificate.exact
    found = sureshot.top_k(data, query, 4, metric="cosine", bounds=both, rng=0)
    assert "lies within the given bounds and the given norms are" in found.certificate.assumption
    # For inner products they are upper bounds like any others.
    found = sureshot.top_k(data, query, 4, bounds=exact, rng=0)
    assert "the rows' norms" not in found.certificate.assumption


def test_upper_bounds_are_never_taken_for_norms(data: Array, query: Floats, tmp_path: Path) -> None:
    loose = Bounds(norms=norms_of(data) * np.linspace(1, 5, 300))
    loose.save(tmp_path / "loose.npz")
    assert Bounds.load(tmp_path / "loose.npz").norms_exact is False
    for bounds in (loose, Bounds.load(tmp_path / "loose.npz"), "unit", None):
        found = sureshot.top_k(data, query, 4, metric="cosine", bounds=bounds, rng=0)
        assert_top_k(found, data, query, 4, "cosine")
        assert found.certificate.exact
        assert found.work.share == 1.0


@pytest.mark.parametrize("method", list(METHODS))
def test_without_norms_one_pass_answers_the_query(data: Array, query: Floats, method: str) -> None:
    k = 1 if not METHODS[method].any_k else 4
    options: dict[str, Any] = {"budget": 0.1} if METHODS[method].budget == "required" else {}
    if METHODS[method].needs_limits:
        options["bounds"] = span(data)
    found = sureshot.top_k(data, query, k, metric="cosine", method=method, rng=0, **options)
    assert_top_k(found, data, query, k, "cosine")
    assert found.certificate.exact
    assert found.certificate.assumption == "no assumption is needed"
    assert found.work.numbers_read == data.size
    assert found.work.exact_scores == 300
    assert found.rounds[-1].threshold == found.scores[-1]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_other_queries_of_a_batch_know_the_norms(data: Array, threads: int) -> None:
    queries = data[[3, 8, 200]] + np.random.default_rng(2).standard_normal((3, 6000))
    options: dict[str, Any] = {"metric": "cosine", "rng": 0, "threads": threads}
    found = sureshot.top_k(data, queries, 4, **options)
    first, *others = found.queries
    assert first.certificate.exact
    assert first.work.share == 1.0
    for query, one in zip(queries[1:], others, strict=True):
        assert_top_k(one, data, query, 4, "cosine")
        assert one.certificate.assumption == "unconditional: the norms were computed"
        assert one.work.share < 0.9
        # As alone with the same norms.
        exact = Bounds(norms=norms_of(data), norms_exact=True)
        alone = sureshot.top_k(data, query, 4, bounds=exact, **options)
        assert one.indices.tolist() == alone.indices.tolist()
        np.testing.assert_allclose(one.scores, alone.scores, rtol=1e-12)
    exact_batch = sureshot.top_k(data, queries, 4, method="exact", **options)
    np.testing.assert_array_equal(exact_batch.scores, found.scores)
    assert exact_batch.work.share == 1.0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8"])
def test_norms_may_be_off_by_their_rounding(dtype: str) -> None:
    rng = np.random.default_rng(4)
    data = (40 * rng.standard_normal((60, 2000)).clip(-3, 3)).astype(dtype)
    norms = norms_of(data).astype(np.float16 if dtype == "float16" else np.float32)
    if dtype in ("float64", "int8"):
        norms = norms_of(data)
    query = rng.standard_normal(2000)
    bounds = Bounds(norms=norms, norms_exact=True)
    found = sureshot.top_k(data, query, 60, metric="cosine", bounds=bounds)
    cosines = data.astype(np.float64) @ query / norms_of(data) / np.linalg.norm(query)
    np.testing.assert_allclose(found.scores, np.sort(cosines)[::-1], rtol=2e-3)


@pytest.mark.parametrize("method", ["betting", "exact", "bounded-me"])
@pytest.mark.parametrize("factor", [0.5, 0.999, 1.001, 2.0])
def test_a_row_read_whole_is_held_to_its_norm(
    data: Array, query: Floats, method: str, factor: float
) -> None:
    """Row 3 is among the 40 best even by a norm that is twice as large, so it is evaluated."""
    norms = norms_of(data)
    norms[3] *= factor
    bounds = Bounds(*span(data), norms=norms, norms_exact=True)
    with pytest.raises(BoundsError, match=r"data row 3 has a norm of .*promise as exact"):
        sureshot.top_k(
            data, query, 40, metric="cosine", bounds=bounds, method=method, epsilon=0.01, rng=0
        )


def test_a_part_of_a_row_is_held_to_its_norm(data: Array, query: Floats) -> None:
    """A query with zeros does not need the whole row."""
    query[::2] = 0
    query[: 64 * 20] = 0
    norms = norms_of(data)
    norms[3] *= 0.5
    bounds = Bounds(*span(data), norms=norms, norms_exact=True)
    with pytest.raises(BoundsError, match=r"data row 3 has a norm of at least"):
        sureshot.top_k(data, query, 2, metric="cosine", bounds=bounds, rng=0)


def test_data_that_changed_after_its_scan_is_noticed(data: Array, query: Floats) -> None:
    scan = sureshot.scan(data)
    data[3] /= 2
    with pytest.raises(BoundsError, match=r"data row 3 has a norm of .*promise as exact"):
        sureshot.top_k(data, query, 2, metric="cosine", bounds=scan, rng=0)


@pytest.mark.parametrize(
    ("bounds", "error", "message"),
    [
        (Bounds(norms_exact=True), ValueError, "bounds must have norms if norms_exact is True"),
        (Bounds(norms=1.0, norms_exact=1), TypeError, "norms_exact True or False, got 1"),  # type: ignore[arg-type]
        (Bounds(norms=np.zeros(300), norms_exact=True), ValueError, "data row 0 has norm 0"),
    ],
)
def test_exact_norms_that_make_no_sense(
    data: Array, query: Floats, bounds: Bounds, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        sureshot.top_k(data, query, 2, metric="cosine", bounds=bounds)


@pytest.mark.parametrize("where", [None, np.arange(20, 50), np.arange(0, 60, 3)])
@pytest.mark.parametrize("wrong", [21, 48])
def test_of_some_rows_the_one_with_another_norm_is_named(where: Any, wrong: int) -> None:
    """Rows without a gap are found by their number, others by search."""
    rng = np.random.default_rng(11)
    data = rng.standard_normal((60, 40))
    norms = norms_of(data)
    norms[wrong] *= 1.5
    bounds = Bounds(norms=norms, norms_exact=True)
    with pytest.raises(BoundsError, match=rf"data row {wrong} has a norm of .*promise as exact"):
        sureshot.top_k(data, data[0], 3, metric="cosine", bounds=bounds, where=where)
    norms[wrong] /= 1.5
    sureshot.top_k(data, data[0], 3, metric="cosine", bounds=bounds, where=where)
