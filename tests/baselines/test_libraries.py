"""The exact searches of other libraries, without an index, find the exact top k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.baselines.libraries import faiss, usearch

if TYPE_CHECKING:
    from collections.abc import Callable

    Search = Callable[[Any, Any, int], Any]

SEARCHES: dict[str, Search] = {
    "faiss": faiss.exact_top,
    "usearch": lambda data, queries, k: usearch.exact_top(data, queries, k, threads=2),
}


@pytest.mark.parametrize("shape", [(97,), (1, 97), (7, 97)])
@pytest.mark.parametrize("name", SEARCHES)
def test_the_exact_top_k(name: str, shape: tuple[int, ...]) -> None:
    pytest.importorskip(name)
    rng = np.random.default_rng(0)
    data = rng.standard_normal((60, 97), dtype=np.float32)
    queries = rng.standard_normal(shape, dtype=np.float32)
    found = SEARCHES[name](data, queries, 5)
    scores = queries.astype(float) @ data.astype(float).T
    best = np.sort(np.argsort(-scores, axis=-1)[..., :5], axis=-1)
    np.testing.assert_array_equal(np.sort(found, axis=-1), best)
