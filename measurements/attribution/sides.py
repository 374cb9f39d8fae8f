"""The ways to find the best rows of a store of bfloat16 for one query: ours, and products over all of it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Array
    from sureshot.attribution import Store

OURS, EXACT = "sureshot", "sureshot, exact"
NUMPY, TORCH = "numpy, in pieces", "torch"
# Rows that are widened to float32 at once: they stay in the caches.
ROWS_AT_ONCE = 16


def sides(store: Store, k: int, *, unit_norm: bool) -> dict[str, Callable[[Array], Any]]:
    """Return each way as a function of the query; that of torch only if torch is installed."""
    calls: dict[str, Callable[[Array], Any]] = {
        OURS: lambda query: store.top_k(query, k, unit_norm=unit_norm, rng=0),
        EXACT: lambda query: store.top_k(query, k, unit_norm=unit_norm, method="exact"),
        NUMPY: lambda query: _best(_widened(store.parts[0], query), store, k, unit_norm),
    }
    try:
        torch: Any = import_module("torch")
    except ImportError:
        return calls
    # torch only reads, and does not take a map that is not to be written to.
    data = np.asarray(store.parts[0]).view(np.int16)
    with np.errstate(all="ignore"):
        rows = torch.from_numpy(_writeable_view(data)).view(torch.bfloat16)

    def by_torch(query: Array) -> Any:
        scores = (rows @ torch.from_numpy(query).bfloat16()).float().numpy()
        return _best(scores, store, k, unit_norm)

    return calls | {TORCH: by_torch}


def _widened(rows: Array, query: Array) -> Array:
    """Return the products with rows of bfloat16, which numpy has no matrix product for."""
    scores = np.empty(len(rows), dtype=np.float32)
    bits = rows.view(np.uint16)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        wide = bits[start : start + ROWS_AT_ONCE].astype(np.uint32)
        wide <<= 16
        scores[start : start + ROWS_AT_ONCE] = wide.view(np.float32) @ query
    return scores


def _best(scores: Array, store: Store, k: int, unit_norm: bool) -> Array:
    if unit_norm:
        norms = store.norms()
        assert norms is not None, "they were computed before"
        scores = scores / norms
    best = np.argpartition(-scores, k - 1)[:k]
    order: Array = best[np.argsort(-scores[best])]
    return order


def _writeable_view(array: Array) -> Array:
    """Return an array over the same memory that says it may be written to, which no one does."""
    interface = dict(array.__array_interface__)
    interface["data"] = (interface["data"][0], False)
    holder = type("Memory", (), {"__array_interface__": interface, "keep": array})()
    return np.asarray(holder)
