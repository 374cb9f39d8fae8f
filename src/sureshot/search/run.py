"""Runs one problem with one of the methods and writes down the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.result import TopK, Work
from sureshot.search import bounded_me, exact
from sureshot.search.bandits import (
    exponential_gap,
    lil_ucb,
    lucb,
    median_elimination,
    successive_elimination,
    successive_halving,
    successive_rejects,
)
from sureshot.search.race import betting

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot.search.problem import Answer, Problem, Tally

METHODS: dict[str, Callable[[Problem, np.random.Generator, Tally], Answer]] = {
    "betting": betting.search,
    "exact": exact.search,
    "bounded-me": bounded_me.search,
    "median-elimination": median_elimination.search,
    "successive-elimination": successive_elimination.search,
    "lucb": lucb.search,
    "lil-ucb": lil_ucb.search,
    "exponential-gap": exponential_gap.search,
    "successive-halving": successive_halving.search,
    "successive-rejects": successive_rejects.search,
}
# The bandits of the literature: they need limits of the rewards, pull single coordinates, and draw
# them with replacement unless told otherwise.
BANDITS = tuple(name for name in METHODS if name not in ("betting", "exact", "bounded-me"))
# Methods that find the best arm only.
TOP_ONE = (
    "median-elimination",
    "successive-elimination",
    "lil-ucb",
    "exponential-gap",
    "successive-halving",
)
# Methods whose parameter is a budget, in place of epsilon and delta.
FIXED_BUDGET = ("successive-halving", "successive-rejects")
# Methods that read a budget's worth or less if there is one, and say what that is good for.
WITH_BUDGET = ("betting", *BANDITS)


def run(problem: Problem, method: str, seed: int, tally: Tally) -> TopK:
    """Search and return the result."""
    answer = METHODS[method](problem, np.random.default_rng(seed), tally)
    return result_of(problem, answer, tally)


def result_of(problem: Problem, answer: Answer, tally: Tally) -> TopK:
    """Write an answer down, best first, ties by the smaller index."""
    indices = problem.arms[answer.positions]
    best_first = np.lexsort((indices, -answer.scores))
    scores = answer.scores[best_first]
    numbers = len(problem.arms) * problem.source.n_coordinates
    work = Work(
        numbers_read=tally.numbers_read,
        share=tally.numbers_read / numbers,
        bytes_read=tally.numbers_read * problem.source.bytes_per_number,
        rounds=len(tally.rounds),
        exact_scores=tally.exact_scores,
        seconds=tally.seconds,
        numbers_scanned=tally.numbers_scanned,
    )
    return TopK(
        # 0.0 + x: a distance of zero is 0.0, never -0.0.
        scores=0.0 + tally.sign * scores,
        indices=indices[best_first],
        certificate=answer.certificate,
        work=work,
        rounds=tuple(tally.rounds),
    )
