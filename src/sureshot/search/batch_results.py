"""Writes down what was found for a batch: as one table, and for a query alone when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sureshot._lazy import LazySequence
from sureshot.result import TopK
from sureshot.search.problem import Answer, Tally

if TYPE_CHECKING:
    from sureshot.result import Certificate
    from sureshot.search.batch import BatchAnswer
    from sureshot.search.run import Searched


@dataclass(frozen=True, slots=True)
class BatchResults:
    """The results of queries that were answered exactly and together."""

    searched: Searched
    answer: BatchAnswer
    certificate: Certificate
    choice: str
    numbers_screened: int  # for each query, besides those of the evaluated arms
    seconds: float  # of all together

    def __len__(self) -> int:
        return len(self.answer.positions)

    def table(self, sign: float, numbers_scanned: int, seconds: float) -> TopK:
        """Return the results of a whole call as one, which has taken so long; `sign` is -1 for distances."""
        searched, width = self.searched, self.searched.n_coordinates
        evaluated, count = int(np.add.reduce(self.answer.evaluated)), len(self)
        numbers_read = evaluated * width + count * self.numbers_screened + numbers_scanned

        def of_query(query: int) -> TopK:
            tally = Tally(query, sign=sign)
            if query == 0:
                tally.numbers_read = tally.numbers_scanned = numbers_scanned
            return replace(self, seconds=seconds).of_query(query, tally)

        return TopK(
            scores=0.0 + (self.answer.scores if sign == 1 else sign * self.answer.scores),
            indices=searched.arms.take(self.answer.positions),
            certificate=self.certificate,
            work=searched.work(
                numbers_read,
                count,
                rounds=count,
                exact_scores=evaluated,
                seconds=seconds,
                numbers_scanned=numbers_scanned,
                choice=self.choice,
            ),
            rounds=LazySequence(count, lambda query: of_query(query).rounds[0]),
            algorithm="exact",
            _queries=LazySequence(count, of_query),
        )

    def of_query(self, query: int, tally: Tally) -> TopK:
        """Return the result of one query, whose tally has what it has read before."""
        answer, width = self.answer, self.searched.n_coordinates
        evaluated = int(answer.evaluated[query])
        tally.choice = self.choice
        tally.numbers_read += self.numbers_screened + evaluated * width
        tally.exact_scores += evaluated
        tally.seconds += self.seconds / len(self)
        tally.end_round(0, width, float(answer.scores[query, -1]))
        found = Answer(
            answer.positions[query], answer.scores[query], self.certificate, algorithm="exact"
        )
        return self.searched.result(found, tally)
