"""Queries as they are multiplied with rows: of a moderate size, and rounded to float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot.query_sizes import QuerySizes
from sureshot.theory.products import LARGEST_QUERY, LARGEST_SIZE, SMALLEST_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._native import Team
    from sureshot._types import Array, Floats

DTYPE = np.dtype(np.float32)
# That rounded queries may take.
MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class ProductQueries:
    """Queries times a power of two each, and rounded.

    Queries of float32 that all have a moderate size are taken as they are. Others are multiplied such
    that the largest value of each is between 1/2 and 1.
    """

    values: Array  # (queries, coordinates)
    units: Floats  # these powers
    norms: Floats  # of the queries times their units
    lost: Floats  # the norms of what rounding has lost

    @classmethod
    def groups(
        cls,
        queries: Array,
        team: Team,
        together: int,
        sizes: QuerySizes | None = None,
    ) -> Iterator[ProductQueries | None]:
        """Yield them, so many at a time at most, and fewer where rounding them would take too much memory.

        None where some are too large or too small. Their sizes are found unless they are known.
        """
        if queries.dtype == DTYPE:
            sizes = QuerySizes.of(queries, team) if sizes is None else sizes
            if sizes.within(SMALLEST_SIZE, LARGEST_SIZE):
                for start in range(0, len(queries), together):
                    some = slice(start, start + together)
                    norms = sizes.norms[some]
                    yield cls(queries[some], np.ones(len(norms)), norms, np.zeros(len(norms)))
                return
        together = min(together, max(1, MOST_BYTES // (queries.shape[1] * DTYPE.itemsize)))
        for start in range(0, len(queries), together):
            yield cls._rounded(queries[start : start + together], team)

    @classmethod
    def _rounded(cls, queries: Array, team: Team) -> ProductQueries | None:
        values = np.empty(queries.shape, DTYPE)
        units, norms, lost = np.empty((3, len(queries)))
        done = _native.round_queries(queries, LARGEST_QUERY, team, values, units, norms, lost)
        return cls(values, units, norms, lost) if done else None
