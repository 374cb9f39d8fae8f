"""The plain answer: the score of every arm.

First in float32, where that is faster: arms that it proves not to be among the k best are not computed
in float64 (`sureshot.search.screen`). The answer is the same to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import certificate, cosine, screen
from sureshot.search.best import Best
from sureshot.search.problem import Answer, queries_of, timed
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

# Queries that share a pass over the data: few enough for their problems and scores to take little memory.
AT_ONCE = 16


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:  # noqa: ARG001
    """Find the k best arms exactly."""
    return _search_alone(problem, tally, problem.team)


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
        if len(problems) == 1 and norms is None:
            return [_search_alone(problems[0], tallies[0], team)]
        best = [Best(problem.k) for problem in problems]
        _read_all(problems, tallies, team, norms, best)
        return list(map(_answer, problems, best))


def _search_alone(problem: Problem, tally: Tally, team: Team) -> Answer:
    best, start = Best(problem.k), 0
    if screen.pays([problem]):
        start = screen.search(problem, tally, team, arms_per_round(problem.source), best)
    if start < len(problem.arms):
        _read_all([problem], [tally], team, None, [best], start)
    return _answer(problem, best)


def _answer(problem: Problem, best: Best) -> Answer:
    return Answer(best.positions, best.scores, certificate.exact_answer(problem), "exact")


def arms_at_once(n_coordinates: int) -> int:
    """Return how many arms of so many coordinates are read in one round."""
    return max(1, NUMBERS_PER_ROUND // n_coordinates)


def arms_per_round(source: Source) -> int:
    """Return how many arms are read between two reports of progress."""
    numbers = source.evaluated_at_once * NUMBERS_PER_ROUND
    per_round = int(min(max(1.0, numbers / source.n_coordinates), source.n_arms))
    # Where few arms are no long pieces of columns.
    return max(per_round, FEWEST_ARMS_BY_COLUMN) if source.coordinate_major else per_round


def _end(arms: Ints, end: int, together: int) -> int:
    """Return the first place from `end` on at which no arms are separated that are best read together."""
    if together == 1 or end == len(arms):
        return end
    return int(np.searchsorted(arms, (arms[end - 1] // together + 1) * together))


def _read_all(
    problems: Sequence[Problem],
    tallies: Sequence[Tally],
    team: Team,
    norms: Floats | None,
    best: Sequence[Best],
    start: int = 0,
) -> None:
    """Search the arms from `start` on, those of several problems with a screen if that pays."""
    arms, source = problems[0].arms, problems[0].source
    per_round = arms_per_round(source)
    screened = None
    if len(problems) > 1 and norms is None and screen.pays(problems):
        screened = screen.Screen(problems, tallies, team)
    while start < len(arms):
        wanted = per_round if screened is None else min(per_round, screened.next_arms)
        some = slice(start, _end(arms, min(start + wanted, len(arms)), source.arms_together))
        found = None if screened is None else screened.evaluated(some, best)
        if found is None:
            screened = None
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
    # A source reads its own query as it was given, with its own team.
    alone = len(sources) == 1 and problems[0].team is team
    if alone or not isinstance(sources[0], QuerySource):
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
