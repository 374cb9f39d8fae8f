"""Queries as they are multiplied with rows: all of one size, and rounded to the type of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.theory.products import LARGEST_QUERY

if TYPE_CHECKING:
    from sureshot._types import Array, Floats

# Numbers of queries that are rounded at once: they stay in the caches meanwhile.
NUMBERS_AT_ONCE = 1 << 15


@dataclass(frozen=True, slots=True)
class ProductQueries:
    """Queries times a power of two, such that the largest value is between 1/2 and 1, and rounded."""

    values: Array  # (queries, coordinates)
    units: Floats  # these powers
    norms: Floats  # of the queries times their units
    lost: Floats  # the norms of what rounding has lost

    @classmethod
    def of(cls, queries: Floats, dtype: np.dtype[Any]) -> ProductQueries | None:
        """Return them, or None if some are too large or too small."""
        count, width = queries.shape
        values = np.empty((count, width), dtype)
        units, norms, lost = np.empty((3, count))
        together = max(1, NUMBERS_AT_ONCE // width)
        for start in range(0, count, together):
            some = slice(start, start + together)
            own = queries[some]
            sizes = np.maximum(own.max(axis=1), -own.min(axis=1))
            if not ((sizes == 0) | ((sizes > 1 / LARGEST_QUERY) & (sizes < LARGEST_QUERY))).all():
                return None
            units[some] = np.where(sizes == 0, 1.0, np.ldexp(1.0, -np.frexp(sizes)[1]))
            scaled = own * units[some, None]
            values[some] = scaled
            norms[some] = _norms(scaled)
            scaled -= values[some]
            lost[some] = _norms(scaled)
        return cls(values, units, norms, lost)


def _norms(rows: Floats) -> Floats:
    norms: Floats = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return norms
