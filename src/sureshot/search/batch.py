"""Several queries of the same arms as one table, and what is found for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot.errors import BoundsError

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Problem


@dataclass(frozen=True, slots=True)
class Batch:
    """Queries of the same arms that are evaluated together."""

    like: Problem  # of one of the queries: all but the query, its norm and its unit is that of all
    queries: Floats  # (queries, coordinates)
    # What the scores are multiplied with besides the factors of the rows: a power of two for each query
    # that was scaled. None: 1 for each.
    units: Floats | None = None
    row_scale: Floats | None = None  # the factor of each arm that was given
    norms: Floats | None = None  # of cosines: those of the arms, and of the queries
    query_norms: Floats | None = None

    def __len__(self) -> int:
        return len(self.queries)

    def part(self, some: slice | Ints) -> Batch:
        """Return some of the queries."""
        return Batch(
            self.like,
            self.queries[some],
            None if self.units is None else self.units[some],
            self.row_scale,
            self.norms,
            None if self.query_norms is None else self.query_norms[some],
        )

    def scores(self, queries: Ints, positions: Ints, sums: Floats) -> Floats:
        """Return the scores, as they are ranked, of pairs of a query and an arm, given their sums."""
        factors = self._factors(queries, positions)
        signed = sums
        if factors is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                signed = factors * sums
        finite = np.isfinite(signed)
        if not finite.all():
            arm = self.like.arms[positions[int(np.argmin(finite))]]
            raise BoundsError(f"the score of data row {arm} is too large for float64")
        return self.like.as_scores(signed)

    def _factors(self, queries: Ints, positions: Ints) -> Floats | None:
        if self.norms is not None and self.query_norms is not None:
            of_pairs: Floats = 1 / (self.norms[positions] * self.query_norms[queries])
            return of_pairs
        if self.units is None:
            return None if self.row_scale is None else self.row_scale[positions]
        units = self.units[queries]
        return units if self.row_scale is None else self.row_scale[positions] * units

    def factors_within(self, low: float, high: float) -> bool:
        """Return whether all scores are sums times factors between these."""
        if self.norms is not None and self.query_norms is not None:
            smallest = 1 / (self.norms.max() * self.query_norms.max())
            largest = 1 / (self.norms.min() * self.query_norms.min())
        else:
            given = [one for one in (self.units, self.row_scale) if one is not None]
            smallest = math.prod(float(one.min()) for one in given)
            largest = math.prod(float(one.max()) for one in given)
        return bool(low < smallest and largest < high)

    def best(self, positions: Ints, starts: Ints, sums: Floats, team: Team) -> BatchAnswer:
        """Return the k best of the arms of each query, those from its start to the next, by their sums."""
        k, counts = self.like.k, np.diff(starts)
        of_query = np.repeat(np.arange(len(counts)), counts)
        scores = self.scores(of_query, positions, sums)
        found = BatchAnswer(
            np.empty((len(counts), k), np.int64), np.empty((len(counts), k)), counts
        )
        _native.best_of_each(scores, positions, starts, k, team, found.positions, found.scores)
        return found


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """The k best arms of each query, best first, ties by the smaller one."""

    positions: Ints  # (queries, k), in Problem.arms
    scores: Floats
    evaluated: Ints  # arms of each query whose exact score was computed
