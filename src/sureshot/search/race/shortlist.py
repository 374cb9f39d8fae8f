"""What is left of a budget is spent on the arms that seem best, fewer and fewer of them.

The others are *set aside*: they stay undecided, and the certificate counts what the bets against them have
proved until then. Nothing is bet on here, and no promise rests on what is read: it only decides which arms
are evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._native import SUSPENDED
from sureshot._summation import add_exactly
from sureshot.search.budget import Budget
from sureshot.search.problem import largest
from sureshot.search.race.costs import cost_of_piece
from sureshot.search.race.portions import Portions, blocks_together
from sureshot.search.reward_limits import checked_totals
from sureshot.theory.narrowing import narrowing

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.search.race.race import Race
    from sureshot.theory.narrowing import NarrowRound


class Shortlist:
    """The arms of a race that can still be among the best, by estimates.

    Blocks are read in portions of neighbours, drawn like the blocks of the race, of which those that the race
    has drawn are left out. Of each arm the sum of what was read, less its centres, is kept in twice the
    precision of float64, and its weight.
    """

    def __init__(self, race: Race) -> None:
        self.race = race
        self.problem = race.problem
        self.positions = race.undecided()
        ledger, order = race.ledger, race.order
        steps = ledger.steps[self.positions]
        centres = np.cumsum(race.centre[order.blocks[: race.front]])
        of_steps = np.concatenate([[0.0], centres])[steps]
        self.high, lost = add_exactly(ledger.high[self.positions], -of_steps)
        self.low = lost + ledger.low[self.positions]
        self.weight = order.left[0] - order.left[steps]
        self._seed = int(race.rng.integers(2**63))

    def evaluate_best(self) -> None:
        """Spend the budget, and evaluate the k arms that seem best, on top of it."""
        race = self.race
        if race.allowance.share < 1 and race.front > 0:
            self._narrow()
        known = race.known_scores()
        seeming = largest(np.concatenate([known, self._estimates()]), self.problem.k)
        race.evaluate(self.positions[seeming[seeming >= len(known)] - len(known)])

    def _estimates(self) -> Floats:
        """Return the scores of the arms if what is unread of them is like what was read."""
        race = self.race
        if race.front == 0:
            estimates: Floats = race.ledger.estimates[self.positions]
            return estimates
        sums = (self.high + self.low) * (race.order.left[0] / self.weight)
        return self.problem.scores(self.positions, float(race.centre.sum()) + sums)

    def _narrow(self) -> None:
        """Read more and more of fewer and fewer arms, until the budget is spent."""
        race, tally = self.race, self.race.tally
        numbers = race.budget.predicted()
        together = blocks_together(self.problem.source, numbers / len(self.positions))
        portions = Portions(self.problem.source.blocks, race.order.undrawn(race.front), together)
        if portions.count == 0:
            return
        order = _native.Order(portions.sums(race.weight), self._seed)
        # Long pieces are read faster than the blocks of a race, so the speed is measured anew.
        own = Budget(self.problem, tally)
        start = read = 0
        rounds = self._schedule(numbers, portions, portions.count)
        while rounds and not race.budget.late():
            this = rounds.pop(0)
            self._keep(this.arms)
            order.draw(start + this.pulls)
            self._read(portions.blocks_of(order.blocks[read:]), portions)
            read = start + this.pulls
            undecided = int(np.count_nonzero(race.ledger.status <= SUSPENDED))
            pulls = race.front + read * together
            tally.end_round(undecided, pulls, race.shown_threshold(), this.arms)
            if self.problem.deadline is not None:
                start, numbers = read, min(race.budget.affordable(), own.predicted())
                rounds = self._schedule(numbers, portions, portions.count - read)

    def _schedule(self, numbers: int, portions: Portions, unread: int) -> list[NarrowRound]:
        """Return the rounds that spend so many numbers where so many portions are unread."""
        source, race = self.problem.source, self.race
        blocks = portions.numbers / (source.blocks.size * max(portions.count, 1))  # of a portion
        # In portions: what the budget allows, and what costs less than the exact product.
        affordable = race.allowance.cost_left(race) / cost_of_piece(source.costs)
        rounds = narrowing(
            len(self.positions),
            unread,
            self.problem.k,
            min(numbers / source.blocks.size, affordable) / blocks,
            # Where bets are expensive next to the exact product, the race was short.
            all_first=unread == portions.count and race.allowance.share < race.rules.racing_share,
        )
        return list(rounds)

    def _keep(self, count: int) -> None:
        """Set all arms aside but so many that seem best."""
        kept = np.sort(largest(self._estimates(), count))
        self.positions, self.weight = self.positions[kept], self.weight[kept]
        self.high, self.low = self.high[kept], self.low[kept]

    def _read(self, blocks: Ints, portions: Portions) -> None:
        """Add up some blocks of the arms that are left."""
        race, intervals = self.race, self.problem.intervals
        centre, weight = race.centre[blocks], race.weight[blocks]
        if intervals.two_sided and intervals.square_limit is None and not intervals.estimated:
            limit = intervals.limit[self.positions]
            found = checked_totals(self.problem, self.positions, blocks, limit)
        else:
            arms = self.problem.arms[self.positions]
            found = self.problem.source.totals(arms, blocks, centre, weight)
        race.tally.numbers_read += len(self.positions) * portions.numbers_in(blocks)
        if intervals.estimated:
            race.learn_limit(float(found.largest.max()))
        self.high, lost = add_exactly(self.high, found.high - centre.sum())
        self.low += lost + found.low
        self.weight = self.weight + float(weight.sum())
