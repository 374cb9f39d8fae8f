"""Several stores as one: the weighted sum of their scores, with one certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.attribution import Checkpoints, StoreError, checkpoints, open_store
from tests.attribution.stores import gradients, write_bergson
from tests.conftest import CERTAIN

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array, Floats
    from sureshot.attribution import Store

ROWS = 400
WIDTHS = (1500, 1100)
WEIGHTS = (1.0, -0.5)


@pytest.fixture
def tables() -> list[Array]:
    """Gradients of two checkpoints, which agree in part."""
    first = gradients(ROWS, width=WIDTHS[0])
    return [first, first[:, : WIDTHS[1]] + gradients(ROWS, width=WIDTHS[1], seed=3)]


@pytest.fixture
def stores(tmp_path: Path, tables: list[Array]) -> list[Store]:
    return [
        open_store(write_bergson(tmp_path / str(number), table, {"all": table.shape[1]}))
        for number, table in enumerate(tables)
    ]


def queries(count: int = 1) -> list[Array]:
    made = [gradients(count, width=width, seed=9 + width).astype(float) for width in WIDTHS]
    return [one[0] for one in made] if count == 1 else made


def sums(tables: list[Array], asked: list[Array], unit_norm: bool = False) -> Floats:
    """Return the weighted sum for every row."""
    total = np.zeros(ROWS)
    for table, query, weight in zip(tables, asked, WEIGHTS, strict=True):
        scores = table.astype(np.float64) @ query
        if unit_norm:
            scores /= np.linalg.norm(table.astype(np.float64), axis=1) * np.linalg.norm(query)
        total += weight * scores
    return total


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unit_norm", [False, True])
def test_the_weighted_sum(
    stores: list[Store], tables: list[Array], reverse: bool, unit_norm: bool
) -> None:
    asked = queries()
    truth = sums(tables, asked, unit_norm)
    options: dict[str, Any] = {"reverse": reverse, "unit_norm": unit_norm}
    found = Checkpoints(stores, WEIGHTS).top_k(asked, 5, delta=CERTAIN, rng=0, **options)
    best = np.argsort(truth if reverse else -truth, kind="stable")[:5]
    assert found.indices.tolist() == best.tolist()
    np.testing.assert_allclose(found.scores, truth[best], rtol=1e-9, atol=1e-9)
    assert found.certificate.delta <= CERTAIN
    assert found.certificate.epsilon == 0


def test_checkpoints_that_agree_are_not_read_as_a_whole(tmp_path: Path) -> None:
    lengths = np.exp(2 * np.random.default_rng(1).standard_normal((ROWS, 1)))
    rows = (lengths * gradients(ROWS, width=20_000)).astype(np.float32)
    asked = rows[0] / lengths[0]
    store = open_store(write_bergson(tmp_path / "run", rows, {"all": 20_000}))
    store.compute_norms()
    both = Checkpoints([store, store], [1.0, 2.0])
    truth = 3 * (rows.astype(np.float64) @ asked)
    found = both.top_k([asked, asked], 3, delta=0.01, rng=0)
    assert found.indices.tolist() == np.argsort(-truth)[:3].tolist()
    assert not found.certificate.exact
    assert 0 < found.certificate.delta <= 0.01
    assert found.certificate.unconditional
    assert found.work.share < 0.5
    looser = both.top_k([asked, asked], 3, epsilon=1.0, delta=0.01, rng=0)
    assert looser.certificate.epsilon == 1.0
    assert (looser.scores >= np.sort(truth)[::-1][:3] - 1.0).all()


def test_the_searches_go_on_until_no_other_row_can_be_better(
    stores: list[Store], tables: list[Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "FIRST", 1)
    monkeypatch.setattr(checkpoints, "LARGEST_PART", 1.0)
    asked = queries()
    found = Checkpoints(stores, WEIGHTS).top_k(asked, 3, delta=CERTAIN, rng=0)
    truth = sums(tables, asked)
    assert found.indices.tolist() == np.argsort(-truth)[:3].tolist()


def test_planted_early_end_is_caught(
    stores: list[Store], tables: list[Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ending after the first searches, as if the sum of the last scores did not matter, misses rows."""
    monkeypatch.setattr(checkpoints, "FIRST", 1)
    monkeypatch.setattr(checkpoints, "ROUNDING", -1e9)
    wrong = 0
    for seed in range(5):
        asked = [gradients(1, width=width, seed=100 + seed + width)[0] for width in WIDTHS]
        found = Checkpoints(stores, WEIGHTS).top_k(asked, 3, delta=CERTAIN, rng=0)
        wrong += found.indices.tolist() != np.argsort(-sums(tables, asked))[:3].tolist()
    assert wrong > 0


def test_several_queries_and_some_rows(stores: list[Store], tables: list[Array]) -> None:
    asked = queries(3)
    mask = np.arange(ROWS) % 2 == 0
    for where in (mask, np.flatnonzero(mask)):
        found = Checkpoints(stores, WEIGHTS).top_k(asked, 4, where=where, delta=CERTAIN)
        assert found.indices.shape == (3, 4)
        for one, first, second in zip(found.indices, *asked, strict=True):
            truth = np.where(mask, sums(tables, [first, second]), -np.inf)
            assert one.tolist() == np.argsort(-truth)[:4].tolist()


def test_bad_checkpoints(stores: list[Store], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one store"):
        Checkpoints([])
    with pytest.raises(ValueError, match="one for each of 2 stores"):
        Checkpoints(stores, [1.0])
    with pytest.raises(ValueError, match="finite and not 0"):
        Checkpoints(stores, [1.0, 0.0])
    other = open_store(write_bergson(tmp_path / "other", gradients(5)))
    with pytest.raises(StoreError, match="same examples in the same order"):
        Checkpoints([*stores, other])
    both = Checkpoints(stores)
    assert len(both) == len(both.examples) == ROWS
    with pytest.raises(ValueError, match="one for each of 2 stores, got 1"):
        both.top_k([np.ones(WIDTHS[0])])
    with pytest.raises(ValueError, match="as many for each store"):
        both.top_k([np.ones(WIDTHS[0]), np.ones((2, WIDTHS[1]))])
    with pytest.raises(ValueError, match="epsilon must be at least 0"):
        both.top_k(queries(), epsilon=-1.0)
