"""Queries as they are multiplied with rows: of a moderate size, and rounded to the type of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot import _native
from sureshot.theory.products import LARGEST_QUERY, LARGEST_SIZE, SMALLEST_SIZE

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Array, Floats


@dataclass(frozen=True, slots=True)
class ProductQueries:
    """Queries times a power of two each, and rounded."""

    values: Array  # (queries, coordinates)
    units: Floats  # these powers
    norms: Floats  # of the queries times their units
    lost: Floats  # the norms of what rounding has lost

    @classmethod
    def of(cls, queries: Array, dtype: np.dtype[Any], team: Team) -> ProductQueries | None:
        """Return them, or None if some are too large or too small.

        Queries of this type that all have a moderate size are taken as they are. Others are multiplied such that
        the largest value of each is between 1/2 and 1.
        """
        if queries.dtype == dtype:
            sizes, norms = np.empty((2, len(queries)))
            _native.measure_queries(queries, team, sizes, norms)
            if _moderate(sizes):
                return cls(queries, np.ones(len(queries)), norms, np.zeros(len(queries)))
        values = np.empty(queries.shape, dtype)
        units, norms, lost = np.empty((3, len(queries)))
        done = _native.round_queries(queries, LARGEST_QUERY, team, values, units, norms, lost)
        return cls(values, units, norms, lost) if done else None


def _moderate(sizes: Floats) -> bool:
    given = sizes[sizes > 0] if sizes.min() == 0 else sizes
    return not len(given) or bool(given.min() >= SMALLEST_SIZE and given.max() <= LARGEST_SIZE)
