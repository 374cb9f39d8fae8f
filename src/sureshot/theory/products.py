"""How far a matrix product may be from the scores it stands for (section 15 of ``docs/theory.md``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sureshot.theory.rounding import any_order_share, rounding_share

if TYPE_CHECKING:
    from sureshot._types import Floats

UNIT_ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}
# More than the products of one row can lose to underflow, each.
UNDERFLOW = {"float32": 2.0**-124, "float64": 2.0**-700}
# More than the square root of what a square can lose to it.
LOST_NORM = 2.0**-511

# The same of a square in float32, even where what is no normal number is replaced by zero.
LOST_NORM_OF_FLOATS = 2.0**-62

# A query whose largest value is between these is multiplied as it is, and one of zeros.
SMALLEST_SIZE = 2.0**-10
LARGEST_SIZE = 2.0**10

# Where queries, factors and norms are beyond these or one over them, nothing is multiplied: products could
# overflow, or lose more to underflow than the error allows.
LARGEST_QUERY = 2.0**100
LARGEST_SCALE = 2.0**200
LARGEST_NORM = 2.0**100


def product_share(roundings: int, dtype: str) -> float:
    """Return the share of |row| |query| that their product is off by at most, if terms are rounded so often.

    Lemma 17.

    Examples
    --------
    >>> print(f"{product_share(784, 'float32'):.3g}, {product_share(7705, 'float32'):.3g}")
    4.67e-05, 0.000459
    """
    return any_order_share(roundings, UNIT_ROUNDOFF[dtype])


def double_share(width: int) -> float:
    """Return the share r of Theorem 18: more than all errors in double precision."""
    return 4 * rounding_share(width, width)


class ErrorTerms(NamedTuple):
    """What the errors of all rows and queries of a product have in common."""

    slack: float  # r of Theorem 18
    product_share: float  # of |row| |query|, that their product is off by
    underflow: float  # more than the products of a row lose to it
    smallest_size: float  # that the norm of a query has, unless it is all zeros
    square_share: float  # of the computed squared norm of a row, that it is off by
    lost_norm: float  # more than the square root of what that loses to underflow
    distance: bool  # whether the scores are squared distances


def error_terms(
    *, width: int, roundings: int, dtype: str, squares_in_double: bool, distance: bool
) -> ErrorTerms:
    """Return the terms of products of rows of a width whose terms are rounded so often to a type.

    The squared norms of the rows are computed in double, or with as many roundings to float32.
    """
    slack, share = double_share(width), product_share(roundings, dtype)
    return ErrorTerms(
        slack=slack,
        product_share=share,
        underflow=width * UNDERFLOW[dtype],
        smallest_size=SMALLEST_SIZE,
        square_share=slack if squares_in_double else slack + 1.01 * share,
        lost_norm=(LOST_NORM if squares_in_double else LOST_NORM_OF_FLOATS) * width,
        distance=distance,
    )


@dataclass(frozen=True, slots=True)
class QueryErrors:
    """What the queries add to the errors of products."""

    lengths: Floats  # by what the norm of a row is multiplied in the error of its product
    constant: float  # what is added to that norm for the errors that do not grow with it


def query_errors(terms: ErrorTerms, *, norms: Floats, lost: Floats, units: Floats) -> QueryErrors:
    """Return the part of Theorem 18 that depends on the queries.

    ``native/product_errors.cpp`` has the same, to the last bit, where kernels multiply.

    Parameters
    ----------
    terms
        What all have in common.
    norms, lost
        Those of the queries times their units, and of what rounding them has lost.
    units
        The power of two that each query was multiplied by.
    """
    # More than the norm of the rounded query.
    rounded = np.maximum(1.001 * norms, terms.smallest_size)
    lengths = (terms.product_share + terms.slack) * rounded + 1.001 * lost
    constant = np.full(len(norms), terms.underflow)
    if terms.distance:
        constant += terms.slack * np.square(1.001 * norms) / units
    return QueryErrors(lengths, float(np.max(constant / lengths)))


@dataclass(frozen=True, slots=True)
class ArmErrors:
    """The part of Theorem 18 that depends on the arms, one entry each.

    With x the product plus unit * offset, the score lies within unit * fixed + length * factor of
    scale * x.
    """

    offset: Floats
    scale: Floats
    fixed: Floats
    factor: Floats


def arm_errors(
    terms: ErrorTerms, queries: QueryErrors, squares: Floats, scale: Floats
) -> ArmErrors:
    """Return the errors of arms with these squared norms and factors.

    ``native/product_errors.cpp`` has the same, to the last bit, where kernels multiply.
    """
    zeros = np.zeros(len(squares))
    norms = np.sqrt(squares * (1 + terms.square_share)) + terms.lost_norm
    return ArmErrors(
        offset=squares / -2 if terms.distance else zeros,
        scale=np.ascontiguousarray(scale),
        fixed=(
            terms.square_share * np.square(norms) + terms.lost_norm * terms.lost_norm
            if terms.distance
            else zeros
        ),
        factor=scale * (norms + queries.constant),
    )
