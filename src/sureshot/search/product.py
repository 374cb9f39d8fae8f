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
from sureshot.search import certificate, exact, screen
from sureshot.search.problem import Answer, query_of, timed
from sureshot.search.product_queries import ProductQueries
from sureshot.sources import costs
from sureshot.sources.base import QuerySource
from sureshot.theory.products import LARGEST_NORM, PANEL, arm_errors, panels, query_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Team
    from sureshot._types import Array, Floats, Ints
    from sureshot.search.problem import Problem, Tally
    from sureshot.sources.tiles import Tiles

REWARDS = ("ip", "sqeuclidean")

# Bytes that a group of queries may take: rounded for the product, in their problems, and as candidates.
BYTES_OF_GROUP = 96 << 20
MOST_QUERIES = 1024
# Rows that are multiplied at once, if they are wide: more of them would have more pages in memory than the
# processor knows at a time, and fewer would round up and pack the queries too often. Of short rows as many as so
# many numbers, and never more than so many scores.
ROWS_AT_ONCE = 2048
NUMBERS_AT_ONCE = 1 << 20
SCORES_AT_ONCE = 1 << 21
# Products of numbers after which Python looks for signals: a fifth of a second.
PRODUCTS_AT_ONCE = 1 << 34
# Candidates of one query, besides twice k. A query that has more, because of ties, is searched without.
CANDIDATES = 1024


def suits(problem: Problem, n_queries: int) -> bool:
    """Return whether so many queries like this one cost less by a matrix product than in double."""
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


def _screen_costs_less(problem: Problem, n_queries: int) -> bool:
    """Return whether passes in float32 that a few queries share cost less than a matrix product."""
    if problem.source.bytes_per_number == 8 or not screen.pays([problem]):
        return False
    n_arms, width = len(problem.arms), problem.source.n_coordinates
    each = costs.SCREEN_READ / min(n_queries, exact.AT_ONCE) + costs.SCREEN_NUMBER
    passes = each * n_arms * width + costs.PRODUCT_SCORE * n_arms + costs.PRODUCT_QUERY
    return passes < cost_of_query(problem, n_queries)


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
        one, count = problems[0], len(problems)
        if suits(one, count) and not _screen_costs_less(one, count):
            size = queries_at_once(one)
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
            return _evaluated(problems, tallies, *selection.candidates(), self._team)

    def _screened(self, problems: Sequence[Problem], tallies: Sequence[Tally]) -> Selection | None:
        """Multiply everything and return who can be among the best; None if the numbers forbid it."""
        first = self._like
        source, n_arms, width = first.source, len(first.arms), first.source.n_coordinates
        assert isinstance(source, QuerySource), "products are of data and queries"
        tiles = source.tiles()
        assert tiles is not None, "such a source has rows to multiply"
        queries = ProductQueries.of(problems, tiles.dtype)
        if queries is None:
            return None
        if self._squares is None:
            self._squares = tiles.squared_norms(first.arms, self._team)
            source.check_norms(first.arms, np.sqrt(self._squares))
        if not self._squares.max() < LARGEST_NORM**2:  # or not a number
            return None
        distance = source.reward == "sqeuclidean"
        of_queries = query_errors(
            norms=queries.norms,
            lost=queries.lost,
            units=queries.units,
            width=width,
            dtype=tiles.dtype.name,
            distance=distance,
        )
        # Factors differ from query to query by a number that all arms have in common, if at all.
        errors = arm_errors(
            self._squares, problems[0].scale, of_queries, width=width, distance=distance
        )
        selection = Selection(queries.units, of_queries.lengths, first.k, CANDIDATES)
        rows = min(_rows_at_once(len(problems), width), n_arms)
        multiplication = Multiplication(tiles, queries.values, rows)
        reported = 0
        for start in range(0, n_arms, rows):
            some = slice(start, min(start + rows, n_arms))
            selection.add(
                self._team,
                multiplication.scores(first.arms[some]),
                start,
                offset=errors.offset[some],
                scale=errors.scale[some],
                fixed=errors.fixed[some],
                factor=errors.factor[some],
                both_signs=len(first.signs) == 2,
            )
            numbers = (some.stop - reported) * width
            if numbers >= exact.NUMBERS_PER_ROUND or some.stop == n_arms:
                for tally in tallies:
                    tally.numbers_read += numbers
                    if some.stop < n_arms:
                        tally.end_round(n_arms - some.stop, width)
                reported = some.stop
        return selection


class Multiplication:
    """Multiplies tiles of at most so many rows with the same queries, in memory that is taken once."""

    def __init__(self, tiles: Tiles, queries: Array, rows: int) -> None:
        self._tiles = tiles
        self._panels = panels(queries.shape[1])
        # BLAS is faster with the longer side first.
        self._queries = [queries[:, columns].T for columns in self._panels]
        self._sums = np.empty((rows, len(queries)), tiles.dtype)
        self._panel = self._sums if len(self._panels) == 1 else np.empty_like(self._sums)

    def scores(self, arms: Ints) -> Array:
        """Return the product of each arm with each query, (arms, queries), until this is called again."""
        sums, panel = self._sums[: len(arms)], self._panel[: len(arms)]
        with np.errstate(over="ignore", invalid="ignore"):
            for at, (columns, queries) in enumerate(zip(self._panels, self._queries, strict=True)):
                rows = self._tiles.panel(arms, columns.start, columns.stop)
                np.matmul(rows, queries, out=sums if at == 0 else panel)
                if at > 0:
                    sums += panel
        return sums


def _rows_at_once(n_queries: int, width: int) -> int:
    """Return how many rows are multiplied at once: few enough to be interrupted, and for the memory."""
    rows = max(ROWS_AT_ONCE, NUMBERS_AT_ONCE // width)
    most = min(SCORES_AT_ONCE, PRODUCTS_AT_ONCE // min(width, PANEL)) // n_queries
    return max(1, min(rows, most))


def _evaluated(
    problems: Sequence[Problem],
    tallies: Sequence[Tally],
    candidates: Ints,
    starts: Ints,
    team: Team,
) -> list[Answer | None]:
    """Return the best of the candidates of each query by their exact scores.

    Those of a query are the candidates from its start to the next one; a query without any has no answer.
    """
    first, width, counts = problems[0], problems[0].source.n_coordinates, np.diff(starts)
    assert isinstance(first.source, QuerySource), "products are of data and queries"
    sums = first.source.exact_scores_of_pairs(
        [query_of(problem) for problem in problems], starts, first.arms[candidates], team
    )
    scores = _scores(problems, candidates, starts, sums)
    of_query = np.repeat(np.arange(len(problems)), counts)
    best_first = np.lexsort((candidates, -scores, of_query))
    found: list[Answer | None] = []
    for problem, tally, start, count in zip(
        problems, tallies, starts.tolist(), counts.tolist(), strict=False
    ):
        if count == 0:
            found.append(None)
            continue
        best = best_first[start : start + problem.k]
        its_scores = scores[best]
        tally.choice = "a matrix product: for so many queries it costs less than all else"
        tally.numbers_read += count * width
        tally.exact_scores += count
        tally.end_round(0, width, float(its_scores[-1]))
        found.append(
            Answer(candidates[best], its_scores, certificate.multiplied_answer(problem), "exact")
        )
    return found


def _scores(problems: Sequence[Problem], candidates: Ints, starts: Ints, sums: Floats) -> Floats:
    """Return the scores, as they are ranked, of the candidates of each query."""
    if all(problem.factors is None for problem in problems):
        return problems[0].scores(candidates, sums)
    ends = starts.tolist()
    return np.concatenate(
        [
            problem.scores(candidates[start:stop], sums[start:stop])
            for problem, start, stop in zip(problems, ends, ends[1:], strict=False)
        ]
    )
