"""How large queries are: found in one pass over a table of them, and kept for whoever asks next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sureshot import _native
from sureshot._native import Team

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array, Floats, Ints


class QuerySizes(NamedTuple):
    """The largest absolute value and the norm of each query; norms are off where squares overflow or underflow."""

    largest: Floats
    norms: Floats

    @classmethod
    def of(cls, queries: Array, team: Team) -> QuerySizes:
        """Return those of a table of float32 or float64."""
        largest, norms = np.empty((2, len(queries)))
        _native.measure_queries(queries, team, largest, norms)
        return cls(largest, norms)

    @classmethod
    def found_by(cls, threads: int, queries: Array) -> QuerySizes:
        """Return the same, found by so many threads."""
        return cls.of(queries, Team(threads))

    def part(self, some: slice | Sequence[int] | Ints) -> QuerySizes:
        """Return those of some of the queries."""
        return QuerySizes(self.largest[some], self.norms[some])

    @property
    def are_finite(self) -> bool:
        """Whether no value of a table of float32 is infinite or NaN: no square of others overflows in float64."""
        return _native.all_finite(self.norms)

    def within(self, smallest: float, largest: float) -> bool:
        """Return whether each query that is not all zeros has its largest value between these."""
        sizes = self.largest[self.largest > 0]
        return not len(sizes) or bool(sizes.min() >= smallest and sizes.max() <= largest)
