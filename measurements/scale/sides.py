"""The ways to find the best rows of a file: ours, and exact products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot.sources.portions import rows_of
from sureshot.storage.file import FileMatrix

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sureshot._types import Array

OURS, OURS_WITHOUT = "sureshot, scan", "sureshot, no bounds"
STREAM, MAP = "streamed product", "numpy, memory map"


def sides(
    path: Path, k: int, bounds: sureshot.Bounds, mapped: Array | None = None
) -> dict[str, Callable[[Array], Any]]:
    """Return each way as a function of the query; the file is opened in each call, unless a map of it is given."""

    def opened() -> Array:
        return np.load(path, mmap_mode="r") if mapped is None else mapped

    def stream(query: Array) -> Array:
        values: Any = np.load(path, mmap_mode="r")
        matrix = FileMatrix(path, values.dtype, values.shape, offset=values.offset)
        scores = np.empty(len(matrix), np.float32)
        # Read by many requests at a time, the next portion while the last one is multiplied.
        for rows in rows_of(matrix, np.arange(len(matrix))):
            scores[rows.places] = rows.values @ query
        return _best(scores, k)

    return {
        STREAM: stream,
        MAP: lambda query: _best(opened() @ query, k),
        OURS: lambda query: sureshot.top_k(opened(), query, k, bounds=bounds, rng=0),
        OURS_WITHOUT: lambda query: sureshot.top_k(opened(), query, k, rng=0),
    }


def _best(scores: Array, k: int) -> Array:
    return np.argpartition(-scores, k - 1)[:k]
