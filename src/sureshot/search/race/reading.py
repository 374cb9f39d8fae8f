"""How a race reads its source: drawn blocks into the ledger, and arms to the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot._native import ACTIVE
from sureshot._summation import add_exactly
from sureshot.sources.base import QuerySource

if TYPE_CHECKING:
    from sureshot._native import Ledger, Met, Order
    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Problem
    from sureshot.sources.base import Source


def blocks_of_scores(source: Source, order: Order) -> Ints | None:
    """Return the blocks that exact scores are read from, or None if these are all.

    In the others the query is zero: to pass over them changes no bit of an inner product, as the native kernels
    add it up. Other sources read whole rows.
    """
    if source.dense is None:
        return None
    if order.length == source.blocks.count:  # blocks without weight alone can be such
        return None
    if not isinstance(source, QuerySource) or source.reward != "ip":
        return None
    found = np.flatnonzero(source.blocks.sums((source.query != 0).astype(np.float64)))
    return found if len(found) < source.blocks.count else None


class Reading:
    """Reads for one race. Arms are given by their positions in the problem.

    Parameters
    ----------
    problem, order, ledger
        Those of the race.
    blocks
        What `blocks_of_scores` finds.
    """

    def __init__(
        self, problem: Problem, order: Order, ledger: Ledger, blocks: Ints | None = None
    ) -> None:
        self.problem = problem
        self.order = order
        self.ledger = ledger
        self.source = problem.source
        self.paid = self.source.costs.each_number_is_paid
        self._blocks = blocks
        self._numbers_of_row = self.source.n_coordinates
        if blocks is not None:
            self._numbers_of_row = int(self.source.blocks.sizes()[blocks].sum())

    def reads_whole_rows(self) -> bool:
        """Return whether an exact score is the sum over a whole row: nothing is passed over."""
        return not self.paid and self._blocks is None

    def numbers_of_rows(self, positions: Ints) -> int:
        """Return how many numbers are read to evaluate some arms."""
        if self.paid:  # what was pulled before is not pulled again
            return len(positions) * self.order.length - int(self.ledger.steps[positions].sum())
        return len(positions) * self._numbers_of_row

    def read_on(self, centre: Floats, start: int, stop: int, guess: float, *, stakes: bool) -> Met:
        """Draw the blocks [start, stop), read them of all active arms and bet on them.

        `guess` is of the final threshold, and `stakes` says whether anything is staked.
        """
        problem, dense = self.problem, self.source.dense
        if dense is not None:
            met = self.ledger.read_on(
                problem.team, dense, problem.arms, self.order, centre, stop, guess, stakes
            )
            return self._unbroken(met, start, stop)
        self.order.draw(stop)
        self.ledger.record(self.order, centre, start, stop, guess, stakes)
        return self.bet_on(self.ledger.arms_with(ACTIVE), start, stop)

    def bet_on(self, positions: Ints, start: int, stop: int) -> Met:
        """Read the drawn blocks [start, stop) of some arms and bet on them."""
        problem, source = self.problem, self.source
        if source.dense is not None:
            met = self.ledger.read(
                problem.team, source.dense, problem.arms, self.order, positions, start, stop
            )
            return self._unbroken(met, start, stop)
        # All of them before the first bet, so that no bet depends on which reward came first.
        arms, blocks = problem.arms[positions], self.order.blocks[start:stop]
        squares = None
        if problem.intervals.square_limit is None:
            sums = source.block_sums(arms, blocks)
        else:
            assert isinstance(source, QuerySource), "rows have norms where there is data"
            sums, squares = source.sums_and_squares(arms, blocks)
        sums = np.ascontiguousarray(sums)
        return self.ledger.add(problem.team, sums, positions, start, stop, squares)

    def _unbroken(self, met: Met, start: int, stop: int) -> Met:
        """Return what was met in the drawn blocks [start, stop) if all of it was finite numbers."""
        if met.broken >= 0:
            # What is not a finite number is named when it is read alone.
            arm = self.problem.arms[met.broken : met.broken + 1]
            self.source.block_sums(arm, self.order.blocks[start:stop])
        return met

    def numbers_in(self, start: int, stop: int) -> int:
        """Return how many coordinates the drawn blocks [start, stop) have."""
        blocks = self.source.blocks
        numbers = (stop - start) * blocks.size
        for block in (0, blocks.count - 1):  # the only ones that may be shorter
            first, end = blocks.span(block)
            if end - first < blocks.size and self.order.has_drawn(block, start, stop):
                numbers -= blocks.size - (end - first)
        return numbers

    def exact_sums(self, positions: Ints) -> tuple[Floats, int]:
        """Return the sums of all rewards of some arms, and the numbers read.

        Rows are read again: that is faster than to pass over what was sampled of them, and gives the sums that every
        other way to evaluate them gives. Where each number is paid for, only the rest is read.
        """
        numbers = self.numbers_of_rows(positions)
        if self.paid:
            return self._with_unread(positions), numbers
        return self.source.exact_scores(self.problem.arms[positions], self._blocks), numbers

    def _with_unread(self, positions: Ints) -> Floats:
        ledger, sums = self.ledger, np.empty(len(positions))
        steps = ledger.steps[positions]
        for front in np.unique(steps):
            group = np.flatnonzero(steps == front)
            some, rest = positions[group], self.order.undrawn(int(front))
            ones = np.ones(len(rest))
            found = self.source.totals(self.problem.arms[some], rest, ones, ones)
            high, lost = add_exactly(found.high, ledger.high[some])
            sums[group] = high + (lost + found.low + ledger.low[some])
        return sums
