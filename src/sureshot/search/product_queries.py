"""Queries as they are multiplied with rows: all of one size, and rounded to the type of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot import _native
from sureshot.theory.products import LARGEST_QUERY

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Array, Floats


@dataclass(frozen=True, slots=True)
class ProductQueries:
    """Queries times a power of two, such that the largest value is between 1/2 and 1, and rounded."""

    values: Array  # (queries, coordinates)
    units: Floats  # these powers
    norms: Floats  # of the queries times their units
    lost: Floats  # the norms of what rounding has lost

    @classmethod
    def of(cls, queries: Floats, dtype: np.dtype[Any], team: Team) -> ProductQueries | None:
        """Return them, or None if some are too large or too small."""
        values = np.empty(queries.shape, dtype)
        units, norms, lost = np.empty((3, len(queries)))
        done = _native.round_queries(queries, LARGEST_QUERY, team, values, units, norms, lost)
        return cls(values, units, norms, lost) if done else None
