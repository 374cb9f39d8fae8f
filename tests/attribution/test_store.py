"""Searches of stores: the same rows as a float64 product, whole or by modules, in one file or in several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.attribution import Store, open_store
from sureshot.attribution.merging import NOTHING_ASSUMED
from tests.attribution.stores import (
    BFLOAT16,
    MODULES,
    WIDTH,
    gradients,
    write_bergson,
    write_dattri,
)
from tests.conftest import CERTAIN

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot import TopK
    from sureshot._types import Array, Floats

ROWS = 90


@pytest.fixture(params=["one file", "shards", "chunks", "columns first"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    rows = gradients(ROWS, dtype=BFLOAT16)
    if request.param == "chunks":
        return open_store(write_dattri(tmp_path / "cache", rows, batch=7))
    if request.param == "shards":
        for number, (start, stop) in enumerate([(0, 5), (5, 60), (60, ROWS)]):
            write_bergson(tmp_path / "run" / f"shard_{number}", rows[start:stop])
        return open_store(tmp_path / "run")
    if request.param == "columns first":
        np.save(tmp_path / "rows.npy", np.asfortranarray(rows))
        return open_store(tmp_path / "rows.npy", modules=MODULES)
    return open_store(write_bergson(tmp_path / "run", rows))


@pytest.fixture
def query() -> Array:
    made: Array = gradients(1, seed=5)[0].astype(np.float64)
    return made


def values_of(store: Store) -> Floats:
    return np.concatenate(store.parts).astype(np.float64)


def assert_best(result: TopK, truth: Floats, k: int) -> None:
    """Compare with the true scores of all rows, largest first."""
    best = np.argsort(-truth, kind="stable")[:k]
    assert result.indices.tolist() == best.tolist()
    np.testing.assert_allclose(result.scores, truth[best], rtol=1e-9)


def columns_of(*names: str) -> Any:
    wanted = [name in names for name in MODULES]
    return np.repeat(wanted, list(MODULES.values()))


@pytest.mark.parametrize("with_norms", [False, True])
def test_inner_products(store: Store, query: Array, with_norms: bool) -> None:
    if with_norms:
        store.compute_norms()
    result = store.top_k(query, 7, delta=CERTAIN, rng=0)
    assert_best(result, values_of(store) @ query, 7)
    assert result.certificate.unconditional or not with_norms
    assert result.certificate.delta <= CERTAIN
    assert result.certificate.every_position


@pytest.mark.parametrize(
    ("modules", "names"),
    [
        ("conv", ("conv.weight", "conv.bias")),
        (["head.weight"], ("head.weight",)),
        (("head", "conv.weight"), ("conv.weight", "head.weight")),
        (["conv.bias", "conv.bias"], ("conv.bias",)),
    ],
)
@pytest.mark.parametrize("unit_norm", [False, True])
@pytest.mark.parametrize("narrow", [False, True])
def test_modules(
    store: Store, query: Array, modules: Any, names: tuple[str], unit_norm: bool, narrow: bool
) -> None:
    inside = columns_of(*names)
    values = values_of(store)[:, inside]
    truth = values @ query[inside]
    if unit_norm:
        truth /= np.linalg.norm(values, axis=1) * np.linalg.norm(query[inside])
    asked = query[inside] if narrow else query
    found = store.top_k(asked, 4, modules=modules, unit_norm=unit_norm, delta=CERTAIN, rng=0)
    assert_best(found, truth, 4)


def test_directions_and_factors(store: Store, query: Array) -> None:
    values = values_of(store)
    cosines = values @ query / np.linalg.norm(values, axis=1) / np.linalg.norm(query)
    assert_best(store.top_k(query, 5, unit_norm=True, delta=CERTAIN), cosines, 5)
    factors = np.linspace(0.5, 2, ROWS)
    found = store.top_k(query, 5, row_scale=factors, delta=CERTAIN)
    assert_best(found, factors * (values @ query), 5)
    found = store.top_k(query, 5, row_scale=factors, unit_norm=True, delta=CERTAIN)
    assert_best(found, factors * cosines, 5)


def test_the_smallest_come_first_in_reverse(store: Store, query: Array) -> None:
    truth = values_of(store) @ query
    found = store.top_k(query, 6, reverse=True, delta=CERTAIN, rng=1)
    assert found.indices.tolist() == np.argsort(truth, kind="stable")[:6].tolist()
    np.testing.assert_allclose(found.scores, np.sort(truth)[:6], rtol=1e-9)
    thresholds = [info.threshold for info in found.rounds if info.threshold is not None]
    assert all(threshold >= found.scores[-1] - 1e-6 for threshold in thresholds)


def test_several_queries(store: Store) -> None:
    queries = gradients(3, seed=6)
    for reverse in (False, True):
        found = store.top_k(queries, 4, reverse=reverse, delta=CERTAIN, rng=2)
        assert found.scores.shape == found.indices.shape == (3, 4)
        for query, one in zip(queries, found.queries, strict=True):
            alone = store.top_k(query, 4, reverse=reverse, method="exact")
            assert one.indices.tolist() == alone.indices.tolist()
            assert one.scores.tolist() == alone.scores.tolist()


def test_some_rows_only(store: Store, query: Array) -> None:
    truth = values_of(store) @ query
    mask = np.arange(ROWS) % 3 == 1
    for where in (mask, np.flatnonzero(mask)[::-1]):
        found = store.top_k(query, 4, where=where, delta=CERTAIN)
        assert_best(found, np.where(mask, truth, -np.inf), 4)
    found = store.top_k(query, 2, where=[1, 2])  # of a single part
    assert set(found.indices.tolist()) == {1, 2}


def test_every_row(store: Store, query: Array) -> None:
    assert_best(store.top_k(query, ROWS, delta=CERTAIN), values_of(store) @ query, ROWS)


def test_a_row_of_zeros_has_the_score_zero(tmp_path: Path) -> None:
    rows = gradients(10)
    rows[4] = 0
    store = open_store(write_bergson(tmp_path / "run", rows))
    found = store.top_k(rows[3], 10, unit_norm=True)
    assert found.scores[found.indices == 4].tolist() == [0.0]


def test_rows_that_tie_come_in_their_order(tmp_path: Path) -> None:
    rows = gradients(12)
    rows[[2, 7, 11]] = rows[2]
    for number in range(3):
        write_bergson(tmp_path / "run" / f"shard{number}", rows[4 * number : 4 * number + 4])
    found = open_store(tmp_path / "run").top_k(rows[2], 3)
    assert found.indices.tolist() == [2, 7, 11]


def test_a_search_of_parts_is_as_good_as_it_says(tmp_path: Path) -> None:
    rows = gradients(60, width=4000, dtype=np.float32)
    modules = {"all": 4000}
    for number in range(3):
        write_bergson(tmp_path / "run" / f"{number}", rows[20 * number :][:20], modules)
    store = open_store(tmp_path / "run")
    store.compute_norms()
    found = store.top_k(rows[33], 3, epsilon=0.5, delta=0.03, rng=0)
    assert found.algorithm == "race"
    assert found.certificate.delta == pytest.approx(0.03)
    assert found.certificate.epsilon == 0.5
    assert found.certificate.unconditional
    assert (
        found.certificate.assumption
        == "unconditional as long as the data lies within the given bounds"
    )
    truth = np.sort(rows.astype(np.float64) @ rows[33])[::-1]
    assert (found.scores >= truth[:3] - 0.5).all()
    assert found.work.share == pytest.approx(found.work.numbers_read / rows.size)
    assert len(found.rounds) == found.work.rounds


def test_what_an_exact_certificate_says_is_known(tmp_path: Path) -> None:
    store = open_store(write_bergson(tmp_path / "run", gradients(5)))
    assert store.top_k(np.ones(WIDTH), 2, method="exact").certificate.assumption == NOTHING_ASSUMED


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"queries": np.ones(7)}, r"queries must have 1,200 columns, .*got shape \(7,\)"),
        ({"queries": np.ones(7), "modules": "head"}, r"1,200 or 480 columns"),
        ({"queries": np.ones((1, 1, WIDTH))}, r"1 or 2 dimensions; got shape \(1, 1, 1200\)"),
        (
            {"modules": "body"},
            "modules must be some of conv.weight, conv.bias, head.weight; got 'body'",
        ),
        ({"modules": "con"}, "got 'con'"),
        ({"modules": []}, "modules must name at least one module"),
        ({"k": 91}, "k must be at most the number of searched rows, 90, got 91"),
        ({"k": 3, "where": [1, 2]}, "k must be at most the number of searched rows, 2, got 3"),
        ({"k": 0}, "k must be"),
        ({"where": [90]}, "where must hold rows from 0 to 89, got 90"),
        ({"where": np.ones(4, bool)}, "where as a mask must have 90 entries"),
        ({"where": []}, "where must be a mask of the rows"),
        ({"row_scale": np.ones(3)}, r"row_scale must have one factor for each of the 90 rows"),
        ({"queries": np.zeros(WIDTH), "unit_norm": True}, "not all zeros"),
        ({"queries": np.full(WIDTH, np.nan), "unit_norm": True}, "must be finite"),
        ({"queries": np.full(WIDTH, np.inf)}, "must be finite"),
        ({"method": "lucb"}, "method must be one of betting, exact; got 'lucb'"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 1.5}, "delta"),
    ],
)
def test_bad_arguments(store: Store, options: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"queries": np.ones(WIDTH), "k": 2} | options
    with pytest.raises(ValueError, match=message):
        store.top_k(**arguments)
