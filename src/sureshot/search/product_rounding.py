"""What a matrix product can be off: queries as they are multiplied, and the errors of arms by their norms.

Section 15 of ``docs/theory.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.sources.base import QuerySource
from sureshot.theory.rounding import any_order_share, rounding_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array, Floats
    from sureshot.search.problem import Problem

# Columns that are multiplied in the precision of the data; longer sums are made of such panels in double. The
# error grows with it, and shorter ones would cost more calls and additions.
PANEL = 8192

# Where queries, factors and norms are beyond these or one over them, nothing is multiplied: products could
# overflow, or lose more to underflow than the error allows.
LARGEST_QUERY = 2.0**100
LARGEST_SCALE = 2.0**200
LARGEST_NORM = 2.0**100
# More than the products of one row can lose to underflow, each.
UNDERFLOW = {"float32": 2.0**-124, "float64": 2.0**-700}
# More than the square root of what a square can lose to it.
LOST_NORM = 2.0**-511


def panels(width: int) -> list[slice]:
    """Return the columns of each panel: as few panels as can be, about equal."""
    count = math.ceil(width / PANEL)
    ends = [width * at // count for at in range(count + 1)]
    return [slice(*ends[at : at + 2]) for at in range(count)]


@dataclass(frozen=True, slots=True)
class MultipliedQueries:
    """Queries as they are multiplied: times a power of two, and rounded to the type of the data."""

    values: Array  # (queries, coordinates)
    units: Floats  # these powers
    # By what the norm of a row is multiplied in the error of its product.
    lengths: Floats
    # What is added to that norm for the errors that do not grow with it.
    constant: float
    slack: float  # a share of the largest possible score: errors of double precision stay far below

    @classmethod
    def of(
        cls, problems: Sequence[Problem], dtype: np.dtype[Any], *, distance: bool
    ) -> MultipliedQueries | None:
        """Return them, or None if some are too large or too small, or their factors are."""
        width = problems[0].source.n_coordinates
        values = np.empty((len(problems), width), dtype)
        units, norms, lost = np.empty((3, len(problems)))
        for at, problem in enumerate(problems):
            assert isinstance(problem.source, QuerySource), "products are of data and queries"
            query = problem.source.query
            size, factors = float(np.abs(query).max()), problem.factors
            if size > 0 and not 1 / LARGEST_QUERY < size < LARGEST_QUERY:
                return None
            if factors is not None and not (
                factors.min() > 1 / LARGEST_SCALE and factors.max() < LARGEST_SCALE
            ):
                return None
            units[at] = unit = 1.0 if size == 0 else 2.0 ** -np.frexp(size)[1]
            scaled = query * unit
            values[at] = scaled
            scaled -= values[at]
            lost[at] = np.sqrt(np.square(scaled).sum())
            norms[at] = unit * np.sqrt(np.square(query).sum())
        slack = 4 * rounding_share(width, width)
        unit_roundoff = 2.0**-24 if dtype == np.float32 else 2.0**-53
        longest = max(columns.stop - columns.start for columns in panels(width))
        share = any_order_share(longest, unit_roundoff)
        # More than the norm of the rounded query, which is at least 1/2 unless it is all zeros.
        lengths = (share + slack) * np.maximum(1.001 * norms, 0.5) + 1.001 * lost
        constant = np.full(len(problems), width * UNDERFLOW[dtype.name])
        if distance:
            constant += slack * np.square(1.001 * norms) / units
        return cls(values, units, lengths, float(np.max(constant / lengths)), slack)


@dataclass(frozen=True, slots=True)
class ArmErrors:
    """What a selection must know of the arms besides their products."""

    offset: Floats
    scale: Floats
    fixed: Floats
    factor: Floats


def arm_errors(
    problem: Problem, queries: MultipliedQueries, squares: Floats, *, distance: bool
) -> ArmErrors | None:
    """Return the errors of arms with these squared norms, or None if these are too large.

    The factors of the arms may differ from query to query only by a number that all arms have in common.
    """
    if not squares.max() < LARGEST_NORM**2:  # or not a number
        return None
    norms = np.sqrt(squares * (1 + queries.slack)) + LOST_NORM * problem.source.n_coordinates
    zeros = np.zeros(len(squares))
    return ArmErrors(
        offset=squares / -2 if distance else zeros,
        scale=np.ascontiguousarray(problem.scale),
        fixed=queries.slack * np.square(norms) if distance else zeros,
        factor=problem.scale * (norms + queries.constant),
    )
