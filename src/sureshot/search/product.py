"""Several queries at once by a matrix product, and exactly where its rounding leaves the answer open.

A product of matrices in the precision of the data is many times as fast as sums in double, and nothing is known
of the order in which it adds. Section 15 of ``docs/theory.md`` bounds its error for every order. The arms
that can still be among the k best, a few more than k as a rule, are evaluated as they are for one query alone: so
the answer has the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot._native import Selection
from sureshot.search import certificate, exact
from sureshot.search.problem import Answer, largest, timed
from sureshot.search.product_rounding import PANEL, MultipliedQueries, arm_errors, panels
from sureshot.sources import costs
from sureshot.sources.base import QuerySource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Team
    from sureshot._types import Array, Floats, Ints
    from sureshot.search.problem import Problem, Tally
    from sureshot.sources.tiles import Tiles

REWARDS = ("ip", "sqeuclidean")

# Bytes that a group of queries may take: rounded for the product, in their problems, and as candidates.
BYTES_OF_GROUP = 48 << 20
MOST_QUERIES = 1024
# Scores that are computed before they are compared, and for them numbers of rows and products: a tenth of a
# second, after which Python looks for signals.
SCORES_AT_ONCE = 1 << 22
NUMBERS_AT_ONCE = 1 << 23
PRODUCTS_AT_ONCE = 1 << 32
# So few queries are multiplied by the rows, and not the rows by them: BLAS is faster with the longer side first,
# and to turn the scores round costs little.
FEW_QUERIES = 128
# Candidates of one query, besides twice k. A query that has more, because of ties, is searched without.
CANDIDATES = 1024


def suits(problem: Problem, n_queries: int) -> bool:
    """Return whether so many queries like this one cost less by a matrix product."""
    source, n_arms = problem.source, len(problem.arms)
    if not isinstance(source, QuerySource) or source.reward not in REWARDS:
        return False
    if problem.query_norm is not None or 8 * problem.k > n_arms or source.tiles() is None:
        return False
    each = costs.SHARED_NUMBER * n_arms * source.n_coordinates
    return cost_of_query(problem, n_queries) < each


def cost_of_query(problem: Problem, n_queries: int) -> float:
    """Return what each of so many queries costs by a matrix product, in nanoseconds."""
    n_arms, width = len(problem.arms), problem.source.n_coordinates
    together = min(n_queries, queries_at_once(problem))
    once = costs.PRODUCT_READ * n_arms * width + costs.PRODUCT_TILE
    numbers = costs.PRODUCT_NUMBER * n_arms * width
    return numbers + once / together + costs.PRODUCT_SCORE * n_arms + costs.PRODUCT_QUERY


def queries_at_once(problem: Problem) -> int:
    """Return how many queries like this one share a product: as many as take little memory."""
    width = problem.source.n_coordinates
    of_arms = 0 if problem.factors is None else problem.factors.nbytes
    of_problem = of_arms + 8 * width
    of_candidates = 16 * (CANDIDATES + 3 * problem.k)
    return min(max(1, BYTES_OF_GROUP // (of_problem + of_candidates)), MOST_QUERIES)


class Products:
    """Answers queries of the same arms exactly, by matrix products where these cost less.

    Parameters
    ----------
    like
        The problem of one of the queries.
    team
        The threads of what is not multiplied; the product has those that numpy gives it.
    """

    def __init__(self, like: Problem, team: Team) -> None:
        self._like, self._team = like, team
        self._squares: Floats | None = None  # the squared norms of the arms, once they are needed

    def answers(self, problems: Sequence[Problem], tallies: Sequence[Tally]) -> list[Answer]:
        """Return the answer of each problem, to the last bit that of the problem alone."""
        if not problems:
            return []
        found: list[Answer | None] = [None] * len(problems)
        if suits(problems[0], len(problems)):
            size = queries_at_once(problems[0])
            for start in range(0, len(problems), size):
                some = slice(start, start + size)
                found[some] = self.multiplied(problems[some], tallies[some])
        left = [at for at, answer in enumerate(found) if answer is None]
        for start in range(0, len(left), exact.AT_ONCE):
            some_left = left[start : start + exact.AT_ONCE]
            others = exact.search_together(
                [problems[at] for at in some_left], [tallies[at] for at in some_left], self._team
            )
            for at, answer in zip(some_left, others, strict=True):
                found[at] = answer
        return [answer for answer in found if answer is not None]

    def multiplied(
        self, problems: Sequence[Problem], tallies: Sequence[Tally]
    ) -> list[Answer | None]:
        """Return the answer of each problem by a product.

        None for a problem that must be searched in another way: where numbers are too large or too small, or
        not finite, or so many scores nearly tie that a product decides little.
        """
        with timed(*tallies):
            selection = self._screened(problems, tallies)
        if selection is None:
            return [None] * len(problems)
        found: list[Answer | None] = []
        for query, (problem, tally) in enumerate(zip(problems, tallies, strict=True)):
            with timed(tally):
                candidates = selection.candidates(query)
                found.append(None if candidates is None else _evaluated(problem, tally, candidates))
        return found

    def _screened(self, problems: Sequence[Problem], tallies: Sequence[Tally]) -> Selection | None:
        """Multiply everything and return who can be among the best; None if the numbers forbid it."""
        first = self._like
        source, n_arms, width = first.source, len(first.arms), first.source.n_coordinates
        assert isinstance(source, QuerySource), "products are of data and queries"
        tiles = source.tiles()
        assert tiles is not None, "such a source has rows to multiply"
        distance = source.reward == "sqeuclidean"
        queries = MultipliedQueries.of(problems, tiles.dtype, distance=distance)
        if queries is None:
            return None
        if self._squares is None:
            self._squares = tiles.squared_norms(first.arms, self._team)
            source.check_norms(first.arms, np.sqrt(self._squares))
        errors = arm_errors(problems[0], queries, self._squares, distance=distance)
        if errors is None:
            return None
        selection = Selection(len(problems), first.k, CANDIDATES)
        rows = _rows_at_once(len(problems), width)
        reported = 0
        for start in range(0, n_arms, rows):
            some = slice(start, min(start + rows, n_arms))
            selection.add(
                self._team,
                _products(tiles, first.arms[some], queries.values),
                start,
                offset=errors.offset[some],
                scale=errors.scale[some],
                fixed=errors.fixed[some],
                factor=errors.factor[some],
                both_signs=len(first.signs) == 2,
                units=queries.units,
                lengths=queries.lengths,
            )
            numbers = (some.stop - reported) * width
            if numbers >= exact.NUMBERS_PER_ROUND or some.stop == n_arms:
                for tally in tallies:
                    tally.numbers_read += numbers
                    if some.stop < n_arms:
                        tally.end_round(n_arms - some.stop, width)
                reported = some.stop
        return selection


def _rows_at_once(n_queries: int, width: int) -> int:
    """Return how many rows are multiplied at once: few enough to be interrupted, and for the memory."""
    columns = min(width, PANEL)
    most = min(SCORES_AT_ONCE, PRODUCTS_AT_ONCE // columns) // n_queries
    return max(1, min(most, NUMBERS_AT_ONCE // columns))


def _evaluated(problem: Problem, tally: Tally, candidates: Ints) -> Answer:
    """Return the best of the candidates by their exact scores."""
    width = problem.source.n_coordinates
    scores = problem.scores(candidates, problem.source.exact_scores(problem.arms[candidates]))
    best = largest(scores, problem.k)
    tally.choice = "a matrix product: for so many queries it costs less than all else"
    tally.numbers_read += len(candidates) * width
    tally.exact_scores += len(candidates)
    tally.end_round(0, width, float(scores[best[-1]]))
    return Answer(candidates[best], scores[best], certificate.exact_answer(problem), "exact")


def _products(tiles: Tiles, arms: Ints, queries: Array) -> Array:
    """Return the product of each query with each arm, (queries, arms), of several panels in double."""
    scores: Array | None = None
    for columns in panels(queries.shape[1]):
        panel = tiles.panel(arms, columns.start, columns.stop)
        with np.errstate(over="ignore", invalid="ignore"):
            if len(queries) <= FEW_QUERIES:
                some = np.ascontiguousarray((panel @ queries[:, columns].T).T)
            else:
                some = queries[:, columns] @ panel.T
        if scores is None:
            scores = some if columns.stop == queries.shape[1] else some.astype(np.float64)
        else:
            scores += some
    assert scores is not None, "rows have columns"
    return scores
