"""Queries as they are multiplied with rows: all of one size, and rounded to the type of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.search.problem import query_of
from sureshot.theory.products import LARGEST_QUERY, LARGEST_SCALE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array, Floats
    from sureshot.search.problem import Problem

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
    def of(cls, problems: Sequence[Problem], dtype: np.dtype[Any]) -> ProductQueries | None:
        """Return them, or None if some are too large or too small, or their factors are."""
        # The queries of one call often have the same factors.
        factors = {id(one.factors): one.factors for one in problems if one.factors is not None}
        for own in factors.values():
            if not (own.min() > 1 / LARGEST_SCALE and own.max() < LARGEST_SCALE):
                return None
        width = problems[0].source.n_coordinates
        values = np.empty((len(problems), width), dtype)
        units, norms, lost = np.empty((3, len(problems)))
        together = max(1, NUMBERS_AT_ONCE // width)
        space = np.empty((min(together, len(problems)), width))
        for start in range(0, len(problems), together):
            some = slice(start, start + together)
            queries = [query_of(problem) for problem in problems[some]]
            scaled = np.stack(queries, out=space[: len(queries)])
            sizes = np.maximum(scaled.max(axis=1), -scaled.min(axis=1))
            if not ((sizes == 0) | ((sizes > 1 / LARGEST_QUERY) & (sizes < LARGEST_QUERY))).all():
                return None
            units[some] = np.where(sizes == 0, 1.0, np.ldexp(1.0, -np.frexp(sizes)[1]))
            scaled *= units[some, None]
            values[some] = scaled
            norms[some] = _norms(scaled)
            scaled -= values[some]
            lost[some] = _norms(scaled)
        return cls(values, units, norms, lost)


def _norms(rows: Floats) -> Floats:
    norms: Floats = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return norms
