"""How far scores that are computed in float32 may be off (section 14 of ``docs/theory.md``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats

# Half the distance from 1 to the next number of float32 and of float64.
FLOAT32_ROUNDOFF = 2.0**-24
FLOAT64_ROUNDOFF = 2.0**-53

# More than a term loses where results of float32 are below its smallest normal number, 2**-126.
UNDERFLOW = 2.0**-125

# More than what a dozen operations of float64 lose of the bound itself and of the scores.
SLACK = 2.0**-20
SLACK_OF_SCORES = 2.0**-50


def rounding_share(roundings: int, n_coordinates: int) -> float:
    """Return the share of the sum of the absolute terms that a screened sum may be off by.

    Each term is rounded at most `roundings` times in float32, and the sums of some terms are added up in
    float64 (Lemma 15).

    Examples
    --------
    >>> print(f"{rounding_share(36, 10_000):.3g}")
    2.15e-06
    """
    within = _gamma(roundings, FLOAT32_ROUNDOFF)
    return within + (1 + within) * _gamma(n_coordinates, FLOAT64_ROUNDOFF)


def errors_of_products(
    scores: Floats,
    squares: Floats,
    *,
    query_norm: float,
    query_rounding: float,
    unit: float,
    roundings: int,
    n_coordinates: int,
) -> Floats:
    """Return how far screened inner products may be from those that are computed in float64.

    Theorem 16 (a). `squares` are the screened squared norms of the rows, `query_norm` the norm of the query
    and `query_rounding` that of what its values lose in float32; the query was divided by `unit`.
    """
    share = rounding_share(roundings, n_coordinates)
    lost = n_coordinates * UNDERFLOW
    norms = np.sqrt((squares + lost) / (1 - share))
    exact = _gamma(n_coordinates, FLOAT64_ROUNDOFF)
    of_norms = share * (query_norm + query_rounding) + query_rounding + exact * query_norm
    return _widened(norms * of_norms + lost * unit, scores)


def errors_of_squared_distances(
    scores: Floats, *, query_rounding: float, roundings: int, n_coordinates: int
) -> Floats:
    """Return the same of squared distances, negated or not: Theorem 16 (b).

    `query_rounding` is the Euclidean norm of what the values of the query lose in float32.
    """
    distances, errors = _true_distances(scores, roundings + 2, n_coordinates)
    errors += query_rounding * (2 * np.sqrt(distances) + query_rounding)
    distances += errors
    return _widened(errors + _gamma(n_coordinates + 2, FLOAT64_ROUNDOFF) * distances, scores)


def errors_of_absolute_distances(
    scores: Floats, *, query_rounding: float, roundings: int, n_coordinates: int
) -> Floats:
    """Return the same of sums of absolute differences: Theorem 16 (c).

    `query_rounding` is the sum of the absolute values of what the query loses in float32.
    """
    distances, errors = _true_distances(scores, roundings + 1, n_coordinates)
    errors += query_rounding
    distances += errors
    return _widened(errors + _gamma(n_coordinates + 1, FLOAT64_ROUNDOFF) * distances, scores)


def _true_distances(scores: Floats, roundings: int, n_coordinates: int) -> tuple[Floats, Floats]:
    """Return the most that a sum of terms of one sign may be, and how far it may be from the scores."""
    share = rounding_share(roundings, n_coordinates)
    sizes = np.abs(scores)
    errors = (share * sizes + n_coordinates * UNDERFLOW) / (1 - share)
    return sizes + errors, errors


def _gamma(roundings: int, unit: float) -> float:
    """Return by how much so many factors that are off by a unit, or less, may be off together."""
    return roundings * unit / (1 - roundings * unit)


def _widened(errors: Floats, scores: Floats) -> Floats:
    """Return the errors with room for their own rounding and that of ``scores + errors``."""
    return errors * (1 + SLACK) + np.abs(scores) * SLACK_OF_SCORES
