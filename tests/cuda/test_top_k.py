"""The way of a call to a device and back, with the reference in the place of the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sureshot
from sureshot.cuda import plan
from sureshot.cuda.search import KERNELS
from tests.cuda.fake_driver import FakeDriver, on_card


def rows(n: int = 600, width: int = 800, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n, 5)) @ rng.standard_normal((5, width))
    return (factors * np.exp(rng.standard_normal((n, 1)))).astype(np.float32)


@pytest.mark.parametrize("metric", ["ip", "abs-ip", "cosine", "sqeuclidean"])
@pytest.mark.parametrize("known", ["scan", "none"])
def test_a_search_on_a_device_finds_what_a_search_on_the_host_finds(
    card: FakeDriver, metric: str, known: str
) -> None:
    data = rows()
    query = data[5] + rows(1, seed=3)[0]
    on_device = on_card(data)
    bounds = sureshot.scan(on_device) if known == "scan" else None
    found = sureshot.top_k(on_device, query, 7, metric=metric, bounds=bounds, rng=1)
    right = sureshot.top_k(data, query, 7, metric=metric, method="exact")
    assert found.indices.tolist() == right.indices.tolist()
    np.testing.assert_allclose(found.scores, right.scores, rtol=1e-12)
    assert found.certificate.unconditional
    assert found.work.numbers_read > 0
    if known == "scan":
        assert found.algorithm == "race"
        assert (
            found.certificate.assumption == "unconditional as long as the data is what was scanned"
        )
    else:
        assert found.certificate.exact


def test_where_row_scale_and_several_queries(card: FakeDriver) -> None:
    data = rows()
    queries = rows(3, seed=4)
    where = np.arange(0, 600, 2)
    scale = np.random.default_rng(1).random(600) + 0.5
    asked: dict[str, Any] = {"k": 4, "where": where, "row_scale": scale}
    on_device = on_card(data)
    found = sureshot.top_k(on_device, on_card(queries), bounds=sureshot.scan(on_device), **asked)
    right = sureshot.top_k(data, queries, method="exact", **asked)
    assert found.indices.tolist() == right.indices.tolist()
    assert len(found.queries) == 3


def test_a_query_whose_list_has_no_room_is_asked_again_alone(card: FakeDriver) -> None:
    data, queries = rows(), rows(4, seed=4)
    card.crowded = {1, 2}
    on_device = on_card(data)
    bounds = sureshot.scan(on_device)
    found = sureshot.top_k(on_device, on_card(queries), 5, bounds=bounds)
    right = sureshot.top_k(data, queries, 5, method="exact")
    assert found.indices.tolist() == right.indices.tolist()
    assert len(found.queries) == 4
    queries[2, 7] = np.nan  # what is wrong with such a query is said, too
    with pytest.raises(ValueError, match="query must be finite"):
        sureshot.top_k(on_device, on_card(queries), 5, bounds=bounds)


@pytest.mark.parametrize("metric", ["ip", "cosine", "sqeuclidean"])
def test_columns_that_lie_side_by_side(card: FakeDriver, metric: str) -> None:
    data = rows()
    queries = rows(2, seed=4)
    on_device = on_card(np.asfortranarray(data))
    found = sureshot.top_k(on_device, queries, 4, metric=metric)
    right = sureshot.top_k(data, queries, 4, metric=metric, method="exact")
    assert found.indices.tolist() == right.indices.tolist()
    np.testing.assert_allclose(found.scores, right.scores, rtol=1e-12)
    assert found.certificate.exact
    assert "columns" in found.work.choice
    assert card.launched == ["measure_columns"] * 2
    np.testing.assert_allclose(
        np.asarray(sureshot.scan(on_device).norms), np.linalg.norm(data.astype(np.float64), axis=1)
    )


def test_small_data_is_read_whole(card: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """One query by one launch, several by a product: a race would take as long."""
    values = rows(500, 4000) / 16
    query = values[3] + rows(1, 4000, seed=2)[0]
    queries = np.stack([query, query[::-1]])
    for dtype, prepared in ((np.float32, "narrow"), (np.float16, "pack")):
        data = on_card(values.astype(dtype))
        bounds = sureshot.scan(data)
        launched = []
        for limit in (data.values.nbytes, data.values.nbytes - 1):
            monkeypatch.setattr(plan, "SMALL_BYTES", limit)
            for asked in (query, queries):
                card.launched.clear()
                found = sureshot.top_k(data, asked, 5, bounds=bounds, rng=1)
                assert found.certificate.exact == (limit == data.values.nbytes)
                launched.append(card.launched.copy())
        multiplied = [prepared, "multiply" if prepared == "narrow" else "multiply_integers"]
        assert launched[0] == ["whole"]
        assert launched[1] == ["first", *multiplied, "screen", "last"]
        assert launched[2] == [name for name, _ in KERNELS]
        assert launched[3] == [*launched[2][:-1], *multiplied, "screen", "last"]
