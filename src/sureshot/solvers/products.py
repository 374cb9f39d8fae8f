"""Inner products of long vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def dot(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the inner product of two vectors.

    Not by BLAS: its threads stay awake for some 25 ms after a product, and take a core from the search that follows.
    """
    return float(np.einsum("i,i->", one, other))


def dots(rows: NDArray[np.float64], vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inner products of some rows with a vector, likewise."""
    return np.asarray(np.einsum("ij,j->i", rows, vector))
