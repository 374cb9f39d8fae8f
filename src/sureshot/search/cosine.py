"""The factor that makes an inner product a cosine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints

# Inner products with rows of norms below this may lose digits, and products of norms beyond it, or above
# one over it, are no numbers to divide by.
SMALLEST_NORM = 2.0**-900


def norm_of(query: Array) -> float:
    """Return the norm of a query that is not all zeros; no square of it overflows or underflows.

    Not by numpy.linalg.norm: that asks BLAS, whose threads take their time and whose digits differ. All in one
    array: a long query would be pushed out of the caches by others.
    """
    values = query.astype(np.float64)
    smallest, largest = _native.extremes(values)
    largest = max(-smallest, largest)
    values /= largest
    values *= values
    return largest * math.sqrt(float(np.add.reduce(values)))


def norms_of(queries: Floats) -> Floats:
    """Return the same of several queries, one row each, to the last bit."""
    largest = np.abs(queries).max(axis=1)
    norms: Floats = largest * np.sqrt(np.square(queries / largest[:, None]).sum(axis=1))
    return norms


def factors(norms: Floats, arms: Ints, query_norm: float) -> Floats:
    """Return the factor of each row, given its norm.

    Refuses norms that have no direction, or that float64 cannot compute or divide by.
    """
    smallest, largest = _native.extremes(norms)
    if smallest < SMALLEST_NORM:
        problem = "norm 0" if smallest == 0 else "a norm too small for float64"
        message = (
            f"metric='cosine' needs rows with a direction, and data row {arms[norms.argmin()]} has "
            f"{problem}; leave such rows out with where="
        )
        raise ValueError(message)
    if not (smallest * query_norm > SMALLEST_NORM and largest * query_norm < 1 / SMALLEST_NORM):
        raise ValueError("metric='cosine': the norms are too large or too small for float64")
    products = norms * query_norm
    return np.divide(1.0, products, out=products)
