"""The plain answer: the exact score of every arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import certificate, cosine
from sureshot.search.problem import Answer, largest, timed
from sureshot.sources.base import QuerySource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Team
    from sureshot._seed import Rng
    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Problem, Tally
    from sureshot.sources.base import Source

# Numbers between two reports of progress: a few tens of milliseconds at memory speed.
NUMBERS_PER_ROUND = 1 << 27

FEWEST_ARMS_BY_COLUMN = 1 << 15

# Queries that share a pass over the data: few enough for their scores to take little memory.
AT_ONCE = 16


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:  # noqa: ARG001
    """Evaluate every arm exactly."""
    return _search_together([problem], [tally], problem.team, None)[0]


def search_together(
    problems: Sequence[Problem],
    tallies: Sequence[Tally],
    team: Team,
    norms: Floats | None = None,
) -> list[Answer]:
    """Evaluate every arm exactly for each problem; all of them have the same arms.

    Some arms at a time, so that progress can be reported. Where cosines are asked for and the norms of
    the arms are unknown, `norms` is filled with them in the same pass.
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
    best: list[Ints] = [arms] * len(problems)
    for start in range(0, len(arms), arms_per_round):
        stop = min(start + arms_per_round, len(arms))
        some = slice(start, stop)
        if norms is None:
            sums = sums_of(problems, arms[some], team)
        else:
            sums = _sums_and_cosines(problems, some, team, norms)
        for at, (problem, tally, own) in enumerate(zip(problems, tallies, scores, strict=True)):
            own[some] = problem.scores(some, sums[at])
            tally.numbers_read += (stop - start) * source.n_coordinates
            tally.exact_scores += stop - start
            threshold = None
            if stop >= problem.k:
                best[at] = largest(own[:stop], problem.k)
                threshold = float(own[best[at][-1]])
            tally.end_round(len(arms) - stop, source.n_coordinates, threshold)
    return [
        Answer(k_best, own[k_best], certificate.exact_answer(problem), "exact")
        for problem, k_best, own in zip(problems, best, scores, strict=True)
    ]


def sums_of(problems: Sequence[Problem], arms: Ints, team: Team) -> Floats:
    """Return the sum of all rewards of some arms for each problem, in one pass over the data."""
    sources = [problem.source for problem in problems]
    if not isinstance(sources[0], QuerySource):
        return np.stack([source.exact_scores(arms) for source in sources])
    return sources[0].exact_scores_of(_queries(sources), arms, team)


def _sums_and_cosines(
    problems: Sequence[Problem], some: slice, team: Team, norms: Floats
) -> Floats:
    """Return the same, and fill in the norms of the arms and the factors that make cosines of sums."""
    arms, sources = problems[0].arms[some], [problem.source for problem in problems]
    assert isinstance(sources[0], QuerySource), "cosines are of data and queries"
    sums, norms[some] = sources[0].exact_scores_and_norms(_queries(sources), arms, team)
    for problem in problems:
        if problem.query_norm is not None:
            problem.scale[some] = cosine.factors(norms[some], arms, problem.query_norm)
    return sums


def _queries(sources: Sequence[Source]) -> Floats:
    queries = [source.query for source in sources if isinstance(source, QuerySource)]
    return queries[0][None] if len(queries) == 1 else np.stack(queries)
