"""What a search is asked, what it answers, and the tally it keeps on the way."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._native import Team
from sureshot.errors import BoundsError
from sureshot.result import RoundInfo
from sureshot.sources.base import QuerySource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sureshot._types import Floats, Ints
    from sureshot.result import Certificate
    from sureshot.search.condition import Condition
    from sureshot.sources.base import Source
    from sureshot.theory.intervals import Intervals


# Up to this many scores it takes less time to sort them all than to find out which need be sorted.
FEW_SCORES = 200


@dataclass(frozen=True)
class Problem:
    """One query, ready to be searched.

    The score of arm i is ``scale[i]`` times the sum of its rewards, and the largest scores win;
    with two signs, the largest absolute values do.
    """

    source: Source
    arms: Ints  # the arms to search, ascending
    # One positive factor per searched arm: 1/N for means, or 1/norms, or given. None: 1 for each.
    factors: Floats | None
    k: int
    epsilon: float  # in the units of the scores
    delta: float
    # What is known of the rewards: the intervals of the block sums, and what they rest on. It is asked
    # only where rewards are sampled, since it takes longer than to evaluate a few short rows.
    known: Callable[[], tuple[Intervals, Condition]]
    score_condition: Condition | None = None  # what even an exact score rests on
    # Of cosines with unknown row norms: the pass over all rows that finds them fills the scale.
    query_norm: float | None = None
    signs: tuple[float, ...] = (1.0,)
    budget: int | None = None  # numbers that may be read before the search stops
    deadline: float | None = None  # time.perf_counter() after which it stops
    team: Team = field(default_factory=lambda: Team(1))
    replacement: bool = False  # whether rewards are drawn with replacement
    # What the k-th best score may be, as scores are ranked: it helps to decide whether to race, and nothing else.
    expected_score: float = -math.inf

    @cached_property
    def scale(self) -> Floats:
        """The factor of each searched arm."""
        return np.ones(len(self.arms)) if self.factors is None else self.factors

    @property
    def limited(self) -> bool:
        """Whether a budget or a deadline may end the search: a budget for every number is none."""
        everything = len(self.arms) * self.source.n_coordinates
        return self.deadline is not None or (self.budget is not None and self.budget < everything)

    @property
    def _known(self) -> tuple[Intervals, Condition]:
        # Before Python 3.12 a cached_property has one lock for all problems: those of several threads would be set up
        # one after the other.
        found: tuple[Intervals, Condition] | None = self.__dict__.get("_found")
        if found is None:
            found = self.__dict__["_found"] = self.known()
        return found

    @property
    def intervals(self) -> Intervals:
        """The intervals of the block sums."""
        return self._known[0]

    @property
    def score_limits(self) -> Floats | None:
        """What the score of each arm is at most by its norm, in units of the norm of the query; None if none is known."""
        squares = self.intervals.square_limit
        return None if squares is None else self.scale * np.sqrt(squares)

    @property
    def condition(self) -> Condition:
        """What the intervals rest on."""
        return self._known[1]

    def scores(self, positions: Ints | slice, sums: Floats) -> Floats:
        """Return the scores, as they are ranked, of arms whose rewards have these sums."""
        signed = sums
        if self.factors is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                signed = self.factors[positions] * sums
        if not _native.all_finite(signed):
            arm = self.arms[positions][int(np.argmin(np.isfinite(signed)))]
            raise BoundsError(f"the score of data row {arm} is too large for float64")
        return self.as_scores(signed)

    def as_scores(self, signed: Floats) -> Floats:
        """Return scores as they are ranked: by absolute value if both signs count."""
        return np.absolute(signed) if len(self.signs) == 2 else signed


@dataclass(frozen=True, slots=True)
class Answer:
    """The k best arms found, in any order, and what is guaranteed."""

    positions: Ints  # in Problem.arms
    scores: Floats
    certificate: Certificate
    algorithm: str  # which search found them


@dataclass(slots=True)
class Tally:
    """Counts what a search reads and reports each round as it ends."""

    query: int = 0
    progress: Callable[[RoundInfo], object] | None = None
    sign: float = 1.0  # -1 turns thresholds of negated distances back into distances
    seconds: float = 0.0  # that this query has taken so far
    numbers_read: int = 0
    numbers_scanned: int = 0  # of these, before the search
    choice: str = ""  # how the search went about it, where there was a choice, and why
    exact_scores: int = 0
    visits: int = 0  # arms that rounds have read, counted in each
    rounds: list[RoundInfo] = field(default_factory=list)

    def end_round(
        self,
        arms: int,
        pulls: int,
        threshold: float | None = None,
        active: int | None = None,
        epsilon: float | None = None,
    ) -> None:
        """Record a finished round and hand it to the caller's progress function."""
        info = RoundInfo(
            query=self.query,
            round=len(self.rounds) + 1,
            arms=arms,
            active=arms if active is None else active,
            pulls=pulls,
            numbers_read=self.numbers_read,
            threshold=None if threshold is None else 0.0 + self.sign * threshold,
            epsilon=epsilon,
        )
        self.rounds.append(info)
        if self.progress is not None:
            self.progress(info)


def query_of(problem: Problem) -> Floats:
    """Return the query of a problem whose rewards are made of data and a query."""
    assert isinstance(problem.source, QuerySource), "only data has queries"
    return problem.source.query


def queries_of(problems: Sequence[Problem]) -> Floats:
    """Return the queries of problems that have the same data, one row each."""
    if len(problems) == 1:
        return query_of(problems[0])[None]
    return np.stack([query_of(problem) for problem in problems])


@contextmanager
def timed(*tallies: Tally) -> Iterator[None]:
    """Divide the time that passes evenly among the tallies."""
    began = time.perf_counter()
    yield
    passed = time.perf_counter() - began
    for tally in tallies:
        tally.seconds += passed / len(tallies)


def among_largest(scores: Floats, count: int) -> Ints:
    """Return the positions of the `count` largest scores, ascending, ties by position.

    Examples
    --------
    >>> among_largest(np.array([1.0, 3.0, 2.0, 3.0]), 3)
    array([1, 2, 3])
    """
    if count >= len(scores):
        return np.arange(len(scores))
    last = np.partition(scores, -count)[-count]
    chosen = scores > last
    chosen[np.flatnonzero(scores == last)[: count - np.count_nonzero(chosen)]] = True
    return np.flatnonzero(chosen)


def largest(scores: Floats, count: int) -> Ints:
    """Return the positions of the `count` largest scores, best first, ties by position.

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 2.0, 3.0]), 3)
    array([1, 3, 2])
    """
    if len(scores) <= FEW_SCORES:
        return (-scores).argsort(kind="stable")[:count]
    if count < len(scores):
        # Everything that ties with the last one in must be kept for the tie to be broken fairly.
        candidates = np.flatnonzero(scores >= np.partition(scores, -count)[-count])
    else:
        candidates = np.arange(len(scores))
    order = np.lexsort((candidates, -scores[candidates]))
    return candidates[order[:count]]
