"""Runs one problem with one of the methods and writes down the result."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sureshot import _native
from sureshot.result import TopK, Work

if TYPE_CHECKING:
    from sureshot._seed import Rng
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


def result_of(problem: Problem, answer: Answer, tally: Tally) -> TopK:
    """Write an answer down, best first, ties by the smaller index."""
    found = problem.arms[answer.positions]
    indices, scores = _native.best(answer.scores, found, len(found))
    numbers = len(problem.arms) * problem.source.n_coordinates
    work = Work(
        numbers_read=tally.numbers_read,
        share=tally.numbers_read / numbers,
        bytes_read=tally.numbers_read * problem.source.bytes_per_number,
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
