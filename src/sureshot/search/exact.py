"""The plain answer: the exact score of every arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import certificate, cosine
from sureshot.search.problem import Answer, largest, timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Team
    from sureshot._types import Floats
    from sureshot.search.problem import Problem, Tally

# Numbers between two reports of progress: a few tens of milliseconds at memory speed.
NUMBERS_PER_ROUND = 1 << 27

FEWEST_ARMS_BY_COLUMN = 1 << 15


def search(problem: Problem, rng: np.random.Generator, tally: Tally) -> Answer:  # noqa: ARG001
    """Evaluate every arm exactly."""
    return search_together([problem], [tally], problem.team)[0]


def search_together(
    problems: Sequence[Problem],
    tallies: Sequence[Tally],
    team: Team,
    norms: Floats | None = None,
) -> list[Answer]:
    """Evaluate every arm exactly for each problem; all of them have the same arms.

    Some arms at a time, so that progress can be told. Where cosines are asked for and nobody knows
    the norms of the arms, `norms` is filled with them in the same pass.
    """
    if not problems:
        return []
    with timed(*tallies):
        return _search_together(problems, tallies, team, norms)


def _search_together(
    problems: Sequence[Problem], tallies: Sequence[Tally], team: Team, norms: Floats | None
) -> list[Answer]:
    arms, source = problems[0].arms, problems[0].source
    arms_per_round = max(1, NUMBERS_PER_ROUND // source.n_coordinates)
    if source.coordinate_major:  # where few arms are no long pieces of columns
        arms_per_round = max(arms_per_round, FEWEST_ARMS_BY_COLUMN)
    scores = np.empty((len(problems), len(arms)))
    for start in range(0, len(arms), arms_per_round):
        stop = min(start + arms_per_round, len(arms))
        some = slice(start, stop)
        found = None if norms is None else norms[some]
        sources = [problem.source for problem in problems]
        sums = source.exact_scores(arms[some], sources, team, found)
        for problem, tally, own, raw in zip(problems, tallies, scores, sums, strict=True):
            if found is not None and problem.query_norm is not None:
                problem.scale[some] = cosine.factors(found, arms[some], problem.query_norm)
            own[some] = problem.scores(some, raw)
            tally.numbers_read += (stop - start) * source.n_coordinates
            tally.exact_scores += stop - start
            threshold = None
            if stop >= problem.k:
                threshold = float(np.partition(own[:stop], stop - problem.k)[stop - problem.k])
            tally.end_round(len(arms) - stop, source.n_coordinates, threshold)
    best = [largest(own, problem.k) for problem, own in zip(problems, scores, strict=True)]
    return [
        Answer(k_best, own[k_best], certificate.exact_answer(problem), "exact")
        for problem, k_best, own in zip(problems, best, scores, strict=True)
    ]
