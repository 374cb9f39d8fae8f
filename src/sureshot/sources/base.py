"""What a source is: access to rewards, what it costs, and nothing else.

A source knows no epsilon, no delta, no order and no ledger. A search asks it for sums and decides by its
costs what to ask for next. A new kind of data needs `block_sums` and the attributes of `Source`; the other
answers are made of block sums unless a source has a faster way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot._summation import add_exactly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._native import Dense, Team
    from sureshot._types import Array, Floats, Ints
    from sureshot.blocks import Blocks
    from sureshot.sources.costs import ReadingCosts
    from sureshot.sources.norms import PromisedNorms
    from sureshot.sources.screening import RoundedQuery, ScreenedBest, Wanted

# Block sums that are asked for at once to be added up: enough to be worth a call, a few MB at most.
SUMS_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums of some arms over the same blocks, one entry per arm.

    ``high + low`` is the sum in twice the precision of float64, so that it depends neither on the
    order nor on the grouping of the blocks.
    """

    high: Floats
    low: Floats
    largest: Floats  # the largest |block sum - centre| / weight met


@dataclass(frozen=True, slots=True)
class Screened:
    """Scores of some arms for several queries, computed in float32, and what their errors follow from.

    They say which arms need an exact score, and nothing else: unlike exact scores, they depend on the
    instruction set and on the memory order. What is not finite is unknown.
    """

    queries: tuple[RoundedQuery, ...]
    scores: Floats  # (queries, arms)
    squares: (
        Floats | None
    )  # of inner products, the squared norm of each arm, computed in the same way


class Source(ABC):
    """Rewards f(arm, coordinate) of `n_arms` arms, read in blocks of consecutive coordinates.

    All sums are float64. A reward that is met and is not a finite number raises `BoundsError`, which names
    the arm and the coordinate.
    """

    n_arms: int
    n_coordinates: int
    blocks: Blocks  # coordinates that are read together: as many as the storage hands over at once
    bytes_per_number: int
    coordinate_major: bool  # whether one coordinate of all arms lies closer together than one arm
    costs: ReadingCosts
    arms_together = (
        1  # that are best read together where all are: neighbours from a multiple of it on
    )
    # Numbers that are evaluated between two reports of progress, over those in memory: elsewhere it costs
    # something to begin.
    evaluated_at_once = 1.0
    dense: Dense | None = None  # for the native kernels, if they can read this source themselves

    def in_other_layouts(self) -> Iterator[tuple[str, Source]]:
        """Yield how the data could be stored, in words, and this source as it would be then, never to be read."""
        yield from ()

    @abstractmethod
    def block_sums(self, arms: Ints, blocks: Ints) -> Floats:
        """Return the sum of each arm over each block, shape (len(blocks), len(arms))."""

    def totals(self, arms: Ints, blocks: Ints, centre: Floats, weight: Floats) -> Totals:
        """Return the sums of each arm over all the blocks together.

        `centre` and `weight`, one entry per given block, are what `Totals.largest` is measured in.
        """
        high, low, largest = np.zeros((3, len(arms)))
        for some in _portions(len(blocks), len(arms)):
            sums = self.block_sums(arms, blocks[some])
            distance = np.abs(sums - centre[some, None]) / weight[some, None]
            largest = np.maximum(largest, distance.max(axis=0))
            for row in sums:
                high, lost = add_exactly(high, row)
                low += lost
        return Totals(high, low, largest)

    def piece_totals(self, arms: Ints, blocks: Ints, centre: Floats, weight: Floats) -> Totals:
        """Return the same of ascending blocks most of which have neighbours, perhaps rounded to float64.

        `Totals.largest` may be that of several blocks as one.
        """
        return self.totals(arms, blocks, centre, weight)

    def exact_scores(self, arms: Ints, blocks: Ints | None = None) -> Floats:
        """Return the sum of all rewards of each arm.

        Equal rows have equal sums. Of given blocks, ascending, nothing else is read: outside of them all rewards are
        zero, so that the sums have the same bits.
        """
        if blocks is None:
            blocks = np.arange(self.blocks.count)
        ones = np.ones(len(blocks))
        found = self.totals(arms, blocks, ones, ones)
        return found.high + found.low


class QuerySource(Source):
    """Rewards that are made of data values and a query."""

    query: Floats
    reward: str  # "ip", "sqeuclidean" or "l1"
    promised: PromisedNorms | None = None  # what the norms of the rows are said to be

    def check_norms(self, arms: Ints, norms: Floats) -> None:
        """Raise `BoundsError` if these norms of some arms are not what somebody has promised."""

    def check_squares(self, arms: Ints, squares: Floats) -> None:
        """Raise the same by squared norms that are computed in float32."""

    @abstractmethod
    def sums_and_squares(self, arms: Ints, blocks: Ints) -> tuple[Floats, Floats]:
        """Return the block sums, and those of the squared data values in the same shape."""

    @abstractmethod
    def exact_scores_of(self, queries: Array, arms: Ints, team: Team) -> Floats:
        """Return the scores of each arm for several queries of the same data, (queries, arms).

        In one pass over the data, made by that team.
        """

    def exact_scores_of_pairs(self, queries: Array, starts: Ints, arms: Ints, team: Team) -> Floats:
        """Return the scores of the arms from ``starts[i]`` to ``starts[i + 1]`` for the query i."""
        ends = starts.tolist()
        return np.concatenate(
            [
                self.exact_scores_of(query[None].astype(np.float64), arms[start:stop], team)[0]
                for query, start, stop in zip(queries, ends, ends[1:], strict=False)
            ]
        )

    @abstractmethod
    def exact_scores_and_norms(
        self, queries: Array, arms: Ints, team: Team
    ) -> tuple[Floats, Floats]:
        """Return the same scores, and the Euclidean norm of each arm from the same pass."""

    def rounded_query(self, arms: Ints) -> RoundedQuery | None:  # noqa: ARG002
        """Return the query as `screened_best` takes it; or None if there is no screen of these arms."""
        return None

    def screened_best(
        self, query: RoundedQuery, arms: Ints, wanted: Wanted, team: Team
    ) -> ScreenedBest:
        """Return the arms that can be among the k best, and their exact scores."""
        raise NotImplementedError

    def screened_scores(self, queries: Floats, arms: Ints, team: Team) -> Screened | None:  # noqa: ARG002
        """Return about these scores, from a quicker pass; or None if there is none for these arms."""
        return None


def _portions(n_blocks: int, n_arms: int) -> Iterator[slice]:
    size = max(1, SUMS_AT_ONCE // max(1, n_arms))
    for start in range(0, n_blocks, size):
        yield slice(start, min(start + size, n_blocks))
