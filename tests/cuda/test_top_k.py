"""The way of a call to a device and back, with the reference in the place of the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from tests.cuda.fake_driver import FakeArray, FakeDriver, install

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    yield install(monkeypatch)
    from sureshot.cuda import driver, matrix  # noqa: PLC0415

    driver.device.cache_clear()
    matrix.module.cache_clear()


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
    on_device = FakeArray(data)
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
    asked = {"k": 4, "where": where, "row_scale": scale}
    on_device = FakeArray(data)
    found = sureshot.top_k(on_device, FakeArray(queries), bounds=sureshot.scan(on_device), **asked)
    right = sureshot.top_k(data, queries, method="exact", **asked)
    assert found.indices.tolist() == right.indices.tolist()
    assert len(found.queries) == 3
