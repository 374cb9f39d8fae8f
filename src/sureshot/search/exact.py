"""The plain answer: the exact score of every arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.result import Certificate
from sureshot.search.problem import Answer, largest

if TYPE_CHECKING:
    from sureshot.search.problem import Problem, Tally

# Numbers between two reports of progress: a few tens of milliseconds at memory speed.
NUMBERS_PER_ROUND = 1 << 27

CERTIFICATE = Certificate(
    epsilon=0.0,
    delta=0.0,
    exact=True,
    scores="exact",
    unconditional=True,
    assumption="no assumption is needed",
)


def search(problem: Problem, rng: np.random.Generator, tally: Tally) -> Answer:  # noqa: ARG001
    """Evaluate every arm exactly, some at a time so that progress can be told."""
    source, n_arms = problem.source, len(problem.arms)
    arms_per_round = max(1, NUMBERS_PER_ROUND // source.n_coordinates)
    scores = np.empty(n_arms)
    for start in range(0, n_arms, arms_per_round):
        stop = min(start + arms_per_round, n_arms)
        scores[start:stop] = source.exact_scores(problem.arms[start:stop])
        scores[start:stop] = problem.as_scores(scores[start:stop] * problem.scale[start:stop])
        tally.numbers_read += (stop - start) * source.n_coordinates
        tally.exact_scores += stop - start
        threshold = None
        if stop >= problem.k:
            threshold = float(np.partition(scores[:stop], stop - problem.k)[stop - problem.k])
        tally.end_round(n_arms - stop, source.n_coordinates, threshold)
    best = largest(scores, problem.k)
    return Answer(best, scores[best], CERTIFICATE)
