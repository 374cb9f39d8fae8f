"""How far scores that are computed in float32 may be off (section 14 of ``docs/theory.md``)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats

# Half the distance from 1 to the next number of float32 and of float64.
FLOAT32_ROUNDOFF = 2.0**-24
FLOAT64_ROUNDOFF = 2.0**-53

# More than a term loses where results of float32 are below its smallest normal number, 2**-126.
UNDERFLOW = 2.0**-125

# More than what a dozen operations of float64 lose of an error itself, and of a score.
SLACK = 2.0**-20
SLACK_OF_SCORES = 2.0**-50


class ErrorTerms(NamedTuple):
    """The most that a screened score may be off: ``fixed + of_root * sqrt(m) + of_score * |score|``.

    m is the screened squared norm of the row for inner products, and the size of the score for distances.
    """

    fixed: float
    of_root: float
    of_score: float

    def errors(self, scores: Floats, squares: Floats | None) -> Floats:
        """Return the errors of some scores."""
        sizes = np.abs(scores)
        roots = np.sqrt(sizes if squares is None else squares)
        return self.fixed + self.of_root * roots + self.of_score * sizes


@lru_cache(maxsize=64)
def rounding_share(roundings: int, n_coordinates: int) -> float:
    """Return the share of the sum of the absolute terms that a screened sum may be off by: Lemma 15.

    Each term is rounded at most `roundings` times in float32, and the sums of some terms are added up in
    float64.

    Examples
    --------
    >>> print(f"{rounding_share(36, 10_000):.3g}")
    2.15e-06
    """
    within = _gamma(roundings, FLOAT32_ROUNDOFF)
    return within + (1 + within) * _gamma(n_coordinates, FLOAT64_ROUNDOFF)


def errors_of_products(
    *,
    query_norm: float,
    query_rounding: float,
    unit: float,
    roundings: int,
    n_coordinates: int,
) -> ErrorTerms:
    """Return how far screened inner products may be from those that are computed in float64.

    Theorem 16 (a). `query_norm` is the norm of the query and `query_rounding` that of what its values lose
    in float32; the query was divided by `unit`.
    """
    share = rounding_share(roundings, n_coordinates)
    lost = n_coordinates * UNDERFLOW
    exact = _gamma(n_coordinates, FLOAT64_ROUNDOFF)
    of_norm = share * (query_norm + query_rounding) + query_rounding + exact * query_norm
    of_root = of_norm / math.sqrt(1 - share)
    return _widened(of_root * math.sqrt(lost) + lost * unit, of_root, 0.0)


def errors_of_squared_distances(
    *, query_rounding: float, roundings: int, n_coordinates: int
) -> ErrorTerms:
    """Return the same of squared distances, negated or not: Theorem 16 (b).

    `query_rounding` is the Euclidean norm of what the values of the query lose in float32.
    """
    share = rounding_share(roundings + 2, n_coordinates)
    exact = _gamma(n_coordinates + 2, FLOAT64_ROUNDOFF)
    of_root = 2 * query_rounding / math.sqrt(1 - share)
    lost = n_coordinates * UNDERFLOW
    moved = query_rounding**2 + of_root * math.sqrt(lost)
    return _one_sign(share, exact, lost, of_root, moved)


def errors_of_absolute_distances(
    *, query_rounding: float, roundings: int, n_coordinates: int
) -> ErrorTerms:
    """Return the same of sums of absolute differences: Theorem 16 (c).

    `query_rounding` is the sum of the absolute values of what the query loses in float32.
    """
    share = rounding_share(roundings + 1, n_coordinates)
    exact = _gamma(n_coordinates + 1, FLOAT64_ROUNDOFF)
    return _one_sign(share, exact, n_coordinates * UNDERFLOW, 0.0, query_rounding)


def _one_sign(share: float, exact: float, lost: float, of_root: float, moved: float) -> ErrorTerms:
    """Return the errors of sums of one sign; `of_root` and `moved` are what the query's rounding adds."""
    more, lost = share / (1 - share), lost / (1 - share)
    fixed = (1 + exact) * (lost + moved) + exact * lost
    return _widened(fixed, (1 + exact) * of_root, (1 + exact) * more + exact * (1 + more))


def _gamma(roundings: int, unit: float) -> float:
    """Return by how much so many factors that are off by a unit, or less, may be off together."""
    return roundings * unit / (1 - roundings * unit)


def _widened(fixed: float, of_root: float, of_score: float) -> ErrorTerms:
    """Return the terms with room for the rounding of an error and of the score plus that error."""
    wide = 1 + SLACK
    return ErrorTerms(fixed * wide, of_root * wide, of_score * wide + SLACK_OF_SCORES)
