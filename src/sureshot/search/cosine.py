"""The factor that makes an inner product a cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Array, Floats, Ints

# Inner products with rows of norms below this may lose digits, and products of norms beyond it, or above
# one over it, are no numbers to divide by.
SMALLEST_NORM = 2.0**-900


def norm_of(query: Array, team: Team) -> float:
    """Return the norm of a query; no square of it overflows or underflows.

    Not by numpy.linalg.norm: that asks BLAS, whose threads take their time and whose digits differ.
    """
    return float(norms_of(query[None], team)[0])


def norms_of(queries: Array, team: Team) -> Floats:
    """Return the same of several queries, one row each, to the last bit."""
    norms = np.empty(len(queries))
    _native.query_norms(queries, team, norms)
    return norms


def factors(norms: Floats, arms: Ints, query_norm: float) -> Floats:
    """Return the factor of each row, given its norm.

    Refuses norms that have no direction, or that float64 cannot compute or divide by.
    """
    refuse_norms(norms, arms, query_norm, query_norm)
    products = norms * query_norm
    return np.divide(1.0, products, out=products)


def refuse_norms(norms: Floats, arms: Ints, smallest_query: float, largest_query: float) -> None:
    """Raise `ValueError` if rows and queries with norms between these have no cosine, or none in float64."""
    smallest, largest = _native.extremes(norms)
    if smallest < SMALLEST_NORM:
        problem = "norm 0" if smallest == 0 else "a norm too small for float64"
        message = (
            f"metric='cosine' needs rows with a direction, and data row {arms[norms.argmin()]} has "
            f"{problem}; leave such rows out with where="
        )
        raise ValueError(message)
    within = (
        smallest * smallest_query > SMALLEST_NORM and largest * largest_query < 1 / SMALLEST_NORM
    )
    if not within:
        raise ValueError("metric='cosine': the norms are too large or too small for float64")
