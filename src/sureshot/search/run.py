"""Runs one problem with one of the methods and writes down the result."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sureshot import _native
from sureshot.result import TopK, Work

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot._types import Ints
    from sureshot.search.methods import Method
    from sureshot.search.problem import Answer, Problem, Tally


def run(
    problem: Problem, method: Method, rng: Rng, tally: Tally, started: float | None = None
) -> TopK:
    """Search and return the result.

    All the time since `started`, by `time.perf_counter`, was spent on this problem.
    """
    search = method.search_for(problem)
    answer = search(problem, rng, tally)
    if started is not None:
        tally.seconds = time.perf_counter() - started
    return result_of(problem, answer, tally)


@dataclass(frozen=True, slots=True)
class Searched:
    """What a result says of the arms that were searched.

    It keeps neither the data nor the threads: results that are written down later must not keep them either.
    """

    arms: Ints
    n_coordinates: int
    bytes_per_number: int

    @classmethod
    def by(cls, problem: Problem) -> Searched:
        """Return what was searched for a problem."""
        source = problem.source
        return cls(problem.arms, source.n_coordinates, source.bytes_per_number)

    def work(self, numbers_read: int, queries: int = 1, **counts: Any) -> Work:
        """Return the work of so many queries that have read so many numbers."""
        numbers = queries * len(self.arms) * self.n_coordinates
        return Work(
            numbers_read=numbers_read,
            share=numbers_read / numbers,
            bytes_read=numbers_read * self.bytes_per_number,
            **counts,
        )

    def result(self, answer: Answer, tally: Tally) -> TopK:
        """Write an answer down, best first, ties by the smaller index."""
        found = self.arms[answer.positions]
        indices, scores = _native.best(answer.scores, found, len(found))
        work = self.work(
            tally.numbers_read,
            rounds=len(tally.rounds),
            exact_scores=tally.exact_scores,
            seconds=tally.seconds,
            numbers_scanned=tally.numbers_scanned,
            choice=tally.choice,
        )
        return TopK(
            # 0.0 + x: a distance of zero is 0.0, never -0.0.
            scores=0.0 + tally.sign * scores,
            indices=indices,
            certificate=answer.certificate,
            work=work,
            rounds=tuple(tally.rounds),
            algorithm=answer.algorithm,
        )


def result_of(problem: Problem, answer: Answer, tally: Tally) -> TopK:
    """Write the answer to a problem down."""
    return Searched.by(problem).result(answer, tally)
