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
    from sureshot._types import Array, Floats, Ints
    from sureshot.query_sizes import QuerySizes
    from sureshot.search.problem import Problem

    Which = Ints | tuple[slice | None, ...]

# Which queries and arms make up the table of all scores.
EACH_QUERY: Which = (slice(None), None)
EACH_ARM: Which = (None, slice(None))


@dataclass(frozen=True, slots=True)
class Batch:
    """Queries of the same arms that are evaluated together."""

    like: Problem  # of one of the queries: all but the query, its norm and its unit is that of all
    queries: Array  # (queries, coordinates), float64 or float32
    # What the scores are multiplied with besides the factors of the rows: a power of two for each query
    # that was scaled. None: 1 for each.
    units: Floats | None = None
    row_scale: Floats | None = None  # the factor of each arm that was given
    norms: Floats | None = None  # of cosines: those of the arms, and of the queries
    query_norms: Floats | None = None
    sizes: QuerySizes | None = None  # of the queries, if they are known

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
            None if self.sizes is None else self.sizes.part(some),
        )

    def scores(self, queries: Which, positions: Which, sums: Floats) -> Floats:
        """Return the scores, as they are ranked, of pairs of a query and an arm, given their sums.

        The indices of both are those of pairs, or such that together they make a table.
        """
        factors = self._factors(queries, positions)
        signed = sums
        if factors is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                signed = factors * sums
        if not _native.all_finite(signed):
            arms = np.broadcast_to(self.like.arms[positions], signed.shape)
            arm = arms.ravel()[int(np.argmin(np.isfinite(signed)))]
            raise BoundsError(f"the score of data row {arm} is too large for float64")
        return self.like.as_scores(signed)

    def _factors(self, queries: Which, positions: Which) -> Floats | None:
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
        counts = starts[1:] - starts[:-1]
        of_query = EACH_QUERY
        if self.units is not None or self.query_norms is not None:  # else it is not asked for
            of_query = np.arange(len(counts)).repeat(counts)
        scores = self.scores(of_query, positions, sums)
        found = BatchAnswer.empty(len(counts), self.like.k, counts)
        _native.best_of_each(
            scores, positions, starts, self.like.k, team, found.positions, found.scores
        )
        return found

    def best_of_all(self, sums: Floats, team: Team) -> BatchAnswer:
        """Return the k best arms of each query by the sums of all, (queries, arms)."""
        scores = self.scores(EACH_QUERY, EACH_ARM, sums)
        found = BatchAnswer.empty(len(sums), self.like.k, np.full(len(sums), sums.shape[1]))
        _native.best_of_rows(scores, self.like.k, team, found.positions, found.scores)
        return found


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """The k best arms of each query, best first, ties by the smaller one."""

    positions: Ints  # (queries, k), in Problem.arms
    scores: Floats
    evaluated: Ints  # arms of each query whose exact score was computed; 0 if it has no answer

    @classmethod
    def none(cls, n_queries: int, k: int) -> BatchAnswer:
        """Return that no query has an answer."""
        return cls.empty(n_queries, k, np.zeros(n_queries, np.int64))

    @classmethod
    def empty(cls, n_queries: int, k: int, evaluated: Ints) -> BatchAnswer:
        """Return answers that are still to be filled in."""
        return cls(np.empty((n_queries, k), np.int64), np.empty((n_queries, k)), evaluated)

    def fill(self, some: slice | Ints, answers: BatchAnswer) -> None:
        """Fill in the answers to some of the queries."""
        self.positions[some] = answers.positions
        self.scores[some] = answers.scores
        self.evaluated[some] = answers.evaluated
