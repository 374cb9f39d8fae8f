"""Projections, and what they keep of the true top k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.attribution import GaussianProjection, judge_projection, open_store, projection
from tests.attribution.stores import WIDTH, gradients, write_bergson, write_dattri
from tests.conftest import CERTAIN

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array
    from sureshot.attribution import Store

ROWS = 120


@pytest.fixture
def rows() -> Array:
    return gradients(ROWS)


@pytest.fixture
def store(tmp_path: Path, rows: Array) -> Store:
    return open_store(write_dattri(tmp_path / "cache", rows))


def test_projecting_is_one_product(
    store: Store, rows: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "COLUMNS", 500)
    monkeypatch.setattr(projection, "ROWS", 5)
    made = GaussianProjection(WIDTH, 40, seed=3)
    matrix = made.apply(np.eye(WIDTH))
    np.testing.assert_allclose(made.apply(store), rows @ matrix, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(made.apply(rows), made.apply(store), rtol=1e-4, atol=1e-4)
    assert abs(matrix.std() - 40**-0.5) < 0.01
    assert not np.allclose(matrix, GaussianProjection(WIDTH, 40, seed=4).apply(np.eye(WIDTH)))


def test_the_judge_counts_what_is_kept(store: Store, rows: Array) -> None:
    queries = gradients(4, seed=7)
    same = judge_projection(store, queries, rows, queries, k=10, delta=CERTAIN)
    assert same.kept.tolist() == [1.0] * 4
    assert same.mean == 1.0
    assert same.truth.indices.shape == (4, 10)
    least = judge_projection(store, queries, rows, queries, k=10, reverse=True, delta=CERTAIN)
    assert least.mean == 1.0
    assert not np.isin(least.truth.indices[0], same.truth.indices[0]).any()
    backwards = judge_projection(store, queries, rows, -queries, k=10, delta=CERTAIN)
    assert backwards.mean == 0.0
    half = rows.copy()
    found = same.truth.indices[0]
    half[found[:5]] = 0
    judged = judge_projection(store, queries[0], half, queries[0], k=10, delta=CERTAIN)
    assert judged.kept.tolist() == [0.5]


def test_more_dimensions_keep_more_and_a_longer_shortlist_too(store: Store) -> None:
    queries = gradients(8, seed=8)
    kept = []
    for dimensions in (2, 400):
        made = GaussianProjection(WIDTH, dimensions)
        arguments: Any = (store, queries, made.apply(store), made.apply(queries))
        short = judge_projection(*arguments, delta=CERTAIN, unit_norm=True)
        long = judge_projection(*arguments, shortlist=60, delta=CERTAIN, unit_norm=True)
        assert (long.kept >= short.kept).all()
        kept.append(short.mean)
    assert kept[0] < kept[1]


def test_a_projected_store_is_judged_as_an_array(store: Store, tmp_path: Path) -> None:
    made = GaussianProjection(WIDTH, 50)
    queries = gradients(2, seed=9)
    projected = made.apply(store)
    folder = write_bergson(tmp_path / "projected", projected, {"projection": 50})
    asked = made.apply(queries)
    by_array = judge_projection(store, queries, projected, asked, k=5, delta=CERTAIN)
    by_store = judge_projection(store, queries, open_store(folder), asked, k=5, delta=CERTAIN)
    assert by_array.kept.tolist() == by_store.kept.tolist()


def test_bad_arguments(store: Store, rows: Array) -> None:
    with pytest.raises(ValueError, match="above 0"):
        GaussianProjection(WIDTH, 0)
    with pytest.raises(ValueError, match="1,200 columns"):
        GaussianProjection(WIDTH, 5).apply(np.ones((2, 7)))
    query = np.ones((1, WIDTH))
    with pytest.raises(ValueError, match="shortlist must be from k"):
        judge_projection(store, query, rows, query, k=10, shortlist=5)
    with pytest.raises(ValueError, match="120 rows as the store, got 3"):
        judge_projection(store, query, rows[:3], query)
    with pytest.raises(ValueError, match="projected_queries must have shape"):
        judge_projection(store, query, rows, np.ones((1, 3)))
