"""The plain answer to many queries: in one table, by a matrix product or by every score in double.

Each answer has the bits that the query alone would get. What cannot be answered here, because it takes a pass of its
own over the data or because numbers forbid a product, is left to `sureshot.search.exact`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import certificate
from sureshot.search.batch import BatchAnswer
from sureshot.search.product import (
    MOST_QUERIES,
    Products,
    evaluating_costs_less,
    queries_at_once,
    queries_evaluated,
    suits,
)
from sureshot.sources.base import QuerySource

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._native import Team
    from sureshot._types import Ints
    from sureshot.result import Certificate
    from sureshot.search.batch import Batch
    from sureshot.search.problem import Problem

    Report = Callable[[BatchAnswer, range], None]

# A matrix is small if every score in double takes no longer than a pass in float32 would save.
SMALL_MATRIX = 1 << 18

# Where progress is reported: products of numbers between two reports, a second or two, but not before so many
# queries have shared a pass over the data.
PRODUCTS_PER_REPORT = 1 << 37
FEWEST_PER_REPORT = 64

MULTIPLIED = "a matrix product: for so many queries it costs less than all else"
EVALUATED = "every arm evaluated: the array is small"
CHEAP = "every arm evaluated: in a pass that all queries share it costs less than a matrix product"


class ExactBatch:
    """Answers a batch, some queries at a time.

    Parameters
    ----------
    like
        The problem of one of the queries.
    count
        How many there are.
    team
        The threads that read.
    """

    def __init__(self, like: Problem, count: int, team: Team) -> None:
        self._like, self._count, self._team = like, count, team
        self.multiplies = suits(like, count)
        self._choice = MULTIPLIED
        if not self.multiplies:
            self._choice = CHEAP if evaluating_costs_less(like, count) else EVALUATED
        self._products = Products(like, team) if self.multiplies else None

    @property
    def possible(self) -> bool:
        """Whether the queries can be answered here."""
        return self._choice is not EVALUATED or _is_small(self._like)

    @property
    def choice(self) -> str:
        """How they are answered, and why, in words."""
        return self._choice

    @property
    def numbers_screened(self) -> int:
        """Numbers that are read for each query besides those of the evaluated arms."""
        like = self._like
        return len(like.arms) * like.source.n_coordinates if self.multiplies else 0

    @property
    def certificate(self) -> Certificate:
        """What is guaranteed of every answer."""
        return certificate.exact_answer(self._like)

    def answer(
        self, batch_of: Callable[[range], Batch], report: Report | None = None
    ) -> tuple[BatchAnswer, Ints]:
        """Return the answers, and the positions of the queries that have none.

        Parameters
        ----------
        batch_of
            Makes the table of some queries: not of all, since that may not have room.
        report
            Called with what was found so far, and which queries are new in it.
        """
        count = self._count
        size = self._queries_at_once(reported=report is not None)
        if size >= count and report is None:
            found = self._answers(batch_of(range(count)))
        else:
            found = BatchAnswer.none(count, self._like.k)
            for start in range(0, count, size):
                some = range(start, min(start + size, count))
                found.fill(slice(some.start, some.stop), self._answers(batch_of(some)))
                if report is not None:
                    report(found, some)
        return found, (found.evaluated == 0).nonzero()[0]

    def _queries_at_once(self, *, reported: bool) -> int:
        like = self._like
        numbers = len(like.arms) * like.source.n_coordinates
        often = max(FEWEST_PER_REPORT, PRODUCTS_PER_REPORT // numbers) if reported else MOST_QUERIES
        together = min(often, queries_at_once(like))
        return together if self.multiplies else min(together, queries_evaluated(len(like.arms)))

    def _answers(self, batch: Batch) -> BatchAnswer:
        like, source = batch.like, batch.like.source
        assert isinstance(source, QuerySource), "a batch is of data and queries"
        if self._products is None:
            sums = source.exact_scores_of(batch.queries, like.arms, self._team)
            return batch.best_of_all(sums, self._team)
        chosen = self._products.candidates(batch)
        if chosen is None:
            return BatchAnswer.none(len(batch), like.k)
        positions, starts = chosen
        sums = source.exact_scores_of_pairs(batch.queries, starts, like.arms[positions], self._team)
        has_some = starts[1:] > starts[:-1]
        if np.count_nonzero(has_some) == len(batch):
            return batch.best(positions, starts, sums, self._team)
        found, answered = BatchAnswer.none(len(batch), like.k), has_some.nonzero()[0]
        starts = np.append(starts[answered], starts[-1])
        found.fill(answered, batch.part(answered).best(positions, starts, sums, self._team))
        return found


def _is_small(problem: Problem) -> bool:
    return (
        isinstance(problem.source, QuerySource)
        and problem.query_norm is None
        and is_small(len(problem.arms), problem.source.n_coordinates)
    )


def is_small(n_arms: int, n_coordinates: int) -> bool:
    """Return whether every score of so many arms is computed in double rather than in passes of their own."""
    return n_arms * n_coordinates <= SMALL_MATRIX
