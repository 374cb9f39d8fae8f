"""The plain answer: the score of every arm.

First in float32, where that is faster: arms that it proves not to be among the k best are not computed
in float64 (`sureshot.search.screen`). The answer is the same to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import certificate, cosine
from sureshot.search.best import Best
from sureshot.search.problem import Answer, queries_of, timed
from sureshot.search.screen import Screen, pays
from sureshot.sources.base import QuerySource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Team
    from sureshot._seed import Rng
    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Problem, Tally

# Numbers between two reports of progress: a few tens of milliseconds at memory speed.
NUMBERS_PER_ROUND = 1 << 27

FEWEST_ARMS_BY_COLUMN = 1 << 15

# Queries that share a pass over the data: few enough for their problems and scores to take little memory.
AT_ONCE = 16


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:  # noqa: ARG001
    """Find the k best arms exactly."""
    return _search_together([problem], [tally], problem.team, None)[0]


def search_together(
    problems: Sequence[Problem],
    tallies: Sequence[Tally],
    team: Team,
    norms: Floats | None = None,
) -> list[Answer]:
    """Find the k best arms exactly for each problem; all of them have the same arms.

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
    best = [Best(problem.k) for problem in problems]
    _read_all(problems, tallies, team, norms, best)
    return [
        Answer(own.positions, own.scores, certificate.exact_answer(problem), "exact")
        for problem, own in zip(problems, best, strict=True)
    ]


def _read_all(
    problems: Sequence[Problem],
    tallies: Sequence[Tally],
    team: Team,
    norms: Floats | None,
    best: Sequence[Best],
) -> None:
    arms, source = problems[0].arms, problems[0].source
    per_round = max(1, NUMBERS_PER_ROUND // source.n_coordinates)
    if source.coordinate_major:  # where few arms are no long pieces of columns
        per_round = max(per_round, FEWEST_ARMS_BY_COLUMN)
    screen = Screen(problems, tallies, team) if norms is None and pays(problems) else None
    start = 0
    while start < len(arms):
        wanted = per_round if screen is None else min(per_round, screen.next_arms)
        some = slice(start, min(start + wanted, len(arms)))
        found = None if screen is None else screen.evaluated(some, best)
        if found is None:
            screen = None
            positions = [np.arange(some.start, some.stop)] * len(problems)
            sums = list(_sums_and_cosines(problems, some, team, norms))
        else:
            positions, sums = [own for own, _ in found], [own for _, own in found]
        for at, (problem, tally) in enumerate(zip(problems, tallies, strict=True)):
            best[at].add(positions[at], problem.scores(positions[at], sums[at]))
            tally.numbers_read += len(positions[at]) * source.n_coordinates
            tally.exact_scores += len(positions[at])
            tally.end_round(len(arms) - some.stop, source.n_coordinates, best[at].threshold)
        start = some.stop


def sums_of(problems: Sequence[Problem], arms: Ints, team: Team) -> Floats:
    """Return the sum of all rewards of some arms for each problem, in one pass over the data."""
    sources = [problem.source for problem in problems]
    if not isinstance(sources[0], QuerySource):
        return np.stack([source.exact_scores(arms) for source in sources])
    return sources[0].exact_scores_of(queries_of(problems), arms, team)


def _sums_and_cosines(
    problems: Sequence[Problem], some: slice, team: Team, norms: Floats | None
) -> Floats:
    """Return the same, and fill in norms of the arms and the factors that make cosines of sums."""
    arms, source = problems[0].arms[some], problems[0].source
    if norms is None:
        return sums_of(problems, arms, team)
    assert isinstance(source, QuerySource), "cosines are of data and queries"
    sums, norms[some] = source.exact_scores_and_norms(queries_of(problems), arms, team)
    for problem in problems:
        if problem.query_norm is not None:
            problem.scale[some] = cosine.factors(norms[some], arms, problem.query_norm)
    return sums
