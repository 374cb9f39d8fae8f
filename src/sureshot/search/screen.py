"""A screen: scores in float32 say which arms can be among the k best, within proved bounds.

An arm that is left out has a smaller score than k others, rounding included: Theorem 16 of
``docs/theory.md``. No probability is involved, so the answer that is found among the other arms is exact.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sureshot import _native
from sureshot.search.problem import queries_of
from sureshot.sources.base import QuerySource
from sureshot.sources.screening import Wanted
from sureshot.theory import screening

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Team
    from sureshot._types import Floats, Ints
    from sureshot.search.best import Best
    from sureshot.search.problem import Problem, Tally
    from sureshot.sources.base import Screened
    from sureshot.sources.screening import RoundedQuery
    from sureshot.theory.screening import ErrorTerms


# Numbers that are screened, at least, before it is decided whether to go on, a fifth of a millisecond; and so
# many arms that so many times k of them may be left. Then so many times as many arms, as long as few are left.
FIRST_NUMBERS = 1 << 22
FIRST_ARMS = 2
GROWTH = 4

# Coordinate-major data is read in pieces of columns, which take longer the shorter they are: first so many arms, and
# this share of them, at least, and then the others.
FIRST_BY_COLUMN = 2048
FIRST_SHARE_BY_COLUMN = 1 / 4

# Arms that are screened at once, at most: of each of them some numbers are kept meanwhile.
MOST_ARMS = 1 << 21

# Below so many numbers a screen takes longer than it saves: some 5 microseconds. With promised norms it saves 10,
# since it checks them on the way.
FEWEST_NUMBERS = 1 << 14

# The largest share of the arms that may be left. An arm of coordinate-major data is read in as many cache lines
# as it has coordinates, so that there it must be fewer of them.
LARGEST_SHARE = 1 / 8
LARGEST_SHARE_BY_COLUMN = 1 / 64
# Scores of rows of float32 in double take one query no longer than in float32; with the squared norms, twice as long.
BYTES_OF_FLOAT = 4


def pays(problems: Sequence[Problem], n_arms: int | None = None) -> bool:
    """Return whether a screen of these problems, which have the same arms, or of so many of these, is worth beginning."""
    source, k = problems[0].source, problems[0].k
    if n_arms is None:
        n_arms = len(problems[0].arms)
    if not isinstance(source, QuerySource):
        return False
    by_column = source.coordinate_major
    if len(problems) == 1:
        itemsize, norms = source.bytes_per_number, source.promised is not None
        return pays_alone(
            n_arms, source.n_coordinates, k, itemsize, by_column=by_column, norms=norms
        )
    return _may_pay(n_arms, source.n_coordinates, k, by_column=by_column)


def pays_alone(
    n_arms: int, n_coordinates: int, k: int, itemsize: int, *, by_column: bool, norms: bool
) -> bool:
    """Return the same of one query and data in memory, the norms of whose rows are checked on the way or not."""
    if itemsize >= BYTES_OF_FLOAT and not by_column and not norms:
        return False
    return _may_pay(n_arms, n_coordinates, k, by_column=by_column)


def _may_pay(n_arms: int, n_coordinates: int, k: int, *, by_column: bool) -> bool:
    enough = n_arms * n_coordinates >= FEWEST_NUMBERS
    return enough and k <= largest_share(by_column=by_column) * n_arms


def first_arms(n_arms: int, n_coordinates: int, k: int, *, by_column: bool) -> int:
    """Return how many of the arms are screened before it is decided whether to go on."""
    first = math.ceil(FIRST_ARMS * k / largest_share(by_column=by_column))
    if by_column:
        return max(first, FIRST_BY_COLUMN, math.ceil(FIRST_SHARE_BY_COLUMN * n_arms))
    return max(first, FIRST_NUMBERS // n_coordinates)


def largest_share(*, by_column: bool) -> float:
    """Return the largest share of the arms that a screen may leave."""
    return LARGEST_SHARE_BY_COLUMN if by_column else LARGEST_SHARE


def search(
    problem: Problem,
    tally: Tally,
    team: Team,
    per_round: int,
    best: Best,
    among: Ints | None = None,
) -> int:
    """Screen the arms of a problem, so many in a round, and add those that can be among the best to `best`.

    All arms, or those at some positions, `among`. Return how many of them were searched: where a screen leaves too many
    arms, or there is none, it is quicker to evaluate the others.
    """
    source, arms, factors = problem.source, problem.arms, problem.factors
    if among is not None:
        arms, factors = arms[among], None if factors is None else factors[among]
    assert isinstance(source, QuerySource), "what is screened has queries"
    query = source.rounded_query(arms)
    if query is None:
        return 0
    width, by_column = source.n_coordinates, source.coordinate_major
    share = largest_share(by_column=by_column)
    terms = error_terms(source.reward, query, width)
    start = 0
    while start < len(arms):
        some = slice(start, min(start + min(per_round, MOST_ARMS), len(arms)))
        wanted = Wanted(
            problem.k,
            best.scores,
            first_arms(len(arms), width, problem.k, by_column=by_column),
            share,
            None if factors is None else factors[some],
            len(problem.signs) == 2,
            *terms,
        )
        found = source.screened_best(query, arms[some], wanted, team)
        tally.numbers_read += found.screened * width
        if found.too_many:
            break
        positions, scores = start + found.positions if start else found.positions, found.scores
        if among is not None:
            positions = among[positions]
        if not found.trusted:  # one by one, to say what is wrong, if anything is
            scores = problem.scores(positions, source.exact_scores(problem.arms[positions]))
        best.add(positions, scores)
        tally.numbers_read += len(positions) * width
        tally.exact_scores += len(positions)
        tally.end_round(len(arms) - some.stop, width, best.threshold)
        start = some.stop
    return start


class Screen:
    """Screens the arms of several problems, which have the same arms, some after the others.

    Parameters
    ----------
    problems
        All with the same data and arms.
    tallies
        Count what is read, one for each problem.
    team
        The threads that read.
    """

    def __init__(self, problems: Sequence[Problem], tallies: Sequence[Tally], team: Team) -> None:
        source = problems[0].source
        self._problems, self._tallies, self._team = problems, tallies, team
        self._queries = queries_of(problems)
        by_column, n_arms = source.coordinate_major, len(problems[0].arms)
        self._share = largest_share(by_column=by_column)
        self.next_arms = first_arms(
            n_arms, source.n_coordinates, problems[0].k, by_column=by_column
        )

    def evaluated(self, some: slice, best: Sequence[Best]) -> list[tuple[Ints, Floats]] | None:
        """Return the positions of those of some arms that can be among the k best, and their sums.

        For each problem; `best` has the best arms so far. None if there are too many, or there is no screen of
        these arms: then it is quicker to evaluate all.
        """
        arms, source = self._problems[0].arms[some], self._problems[0].source
        assert isinstance(source, QuerySource), "what is screened has queries"
        screened = source.screened_scores(self._queries, arms, self._team)
        if screened is None:
            return None
        for tally in self._tallies:
            tally.numbers_read += len(arms) * source.n_coordinates
        found = [
            candidates(problem, some, screened, query, best[query].scores)
            for query, problem in enumerate(self._problems)
        ]
        if max(map(len, found)) > self._share * len(arms):
            return None
        self.next_arms = min(self.next_arms * GROWTH, MOST_ARMS)
        return [
            (
                some.start + own,
                source.exact_scores_of(self._queries[query : query + 1], arms[own], self._team)[0],
            )
            for query, own in enumerate(found)
        ]


def candidates(problem: Problem, some: slice, screened: Screened, query: int, best: Floats) -> Ints:
    """Return which of some arms, counted from the first of them, can be among the k best.

    Parameters
    ----------
    problem
        Has the scale and the signs of the scores.
    some
        The screened arms, as positions in the arms of the problem.
    screened, query
        Their scores, and which of the queries is that of the problem.
    best
        The scores of the best arms so far, at most k.
    """
    source = problem.source
    assert isinstance(source, QuerySource), "what is screened has queries"
    terms = error_terms(source.reward, screened.queries[query], source.n_coordinates)
    # Rounding keeps the order, so the limits of the sums, scaled, are limits of the scores.
    return _native.candidates(
        screened.scores[query],
        screened.squares,
        None if problem.factors is None else problem.factors[some],
        len(problem.signs) == 2,
        fixed=terms.fixed,
        of_root=terms.of_root,
        of_score=terms.of_score,
        best=best,
        k=problem.k,
    )


def error_terms(reward: str, query: RoundedQuery, n_coordinates: int) -> ErrorTerms:
    """Return how far the screened scores for a query may be from the exact ones: Theorem 16."""
    if reward == "ip":
        return screening.errors_of_products(
            query_norm=query.norm,
            query_rounding=query.rounding,
            unit=query.unit,
            roundings=_native.SCREEN_ROUNDINGS,
            n_coordinates=n_coordinates,
        )
    of_distances = {
        "sqeuclidean": screening.errors_of_squared_distances,
        "l1": screening.errors_of_absolute_distances,
    }[reward]
    return of_distances(
        query_rounding=query.rounding,
        roundings=_native.SCREEN_ROUNDINGS,
        n_coordinates=n_coordinates,
    )
