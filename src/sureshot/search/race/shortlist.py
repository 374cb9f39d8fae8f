"""What is left of a budget is spent on the arms that seem best, fewer and fewer of them.

The others are *set aside*: they stay undecided, and the certificate counts what the bets against them have
proved until then. Nothing is bet on here, and no promise rests on what is read: it only decides which arms
are evaluated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot._summation import add_exactly
from sureshot.search.budget import Budget
from sureshot.search.problem import among_largest, largest
from sureshot.search.race import policy
from sureshot.search.race.portions import Portions, blocks_together
from sureshot.search.reward_limits import refuse_longer, refuse_outside
from sureshot.theory.narrowing import MOST_ROUNDS, Limit, narrowing

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.search.race.race import Race
    from sureshot.theory.narrowing import NarrowRound


# How the weights of the blocks are distributed, and what they tell of the rewards, is estimated from so many of them.
WEIGHED_BLOCKS, SAMPLED_BLOCKS, SAMPLED_ARMS = 4096, 512, 32
# If that many of them, at least, can be had for this share of the budget.
FEWEST_SAMPLED, SAMPLED_SHARE = 64, 0.01


class Shortlist:
    """The arms of a race that can still be among the best, by estimates.

    Blocks are read in portions of neighbours, the largest weights first, without those that the race has drawn. Of each
    arm the sum of what was read, less its centres, is kept in twice the precision of float64, and its weight.
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
        self.worth = 1.0  # of the time of reading everything

    def evaluate_best(self) -> None:
        """Spend the budget, and evaluate the k arms that seem best, or more if something is left of it."""
        race, wanted = self.race, self.problem.k
        if not self.problem.source.costs.each_number_is_paid:
            self._narrow()
            rows = race.budget.affordable() // self.problem.source.n_coordinates
            wanted = min(max(wanted, rows), race.rules.most_evaluated * wanted)
        known = race.known_scores()
        seeming = largest(np.concatenate([known, self._estimates()]), wanted)
        chosen = self.positions[seeming[seeming >= len(known)] - len(known)]
        race.evaluate(chosen)
        refuse_longer(self.problem, chosen)

    def _estimates(self) -> Floats:
        """Return the scores of the arms if what is unread of them is like what was read."""
        race = self.race
        if not self.weight.all():
            estimates: Floats = race.ledger.estimates[self.positions]
            return estimates
        sums = (self.high + self.low) * (race.order.left[0] / self.weight)
        return self.problem.scores(self.positions, float(race.centre.sum()) + sums)

    def _narrow(self) -> None:
        """Read more and more of fewer and fewer arms, until the budget is spent."""
        race, tally, source = self.race, self.race.tally, self.problem.source
        # A sample of a small array would take as long as to read it.
        large = race.allowance.cost_of_everything(race) >= race.rules.worth_a_sample
        unread = race.order.length - race.front
        if source.coordinate_major and source.dense is not None and unread > 0 and large:
            self.worth = policy.worth_reading(race.rules, self._sampled_variances())
        rounds_left = race.allowance.rounds(race)
        rounds = self._schedule(race.budget.predicted(), race.front, rounds_left)
        if not rounds:
            return
        together = blocks_together(source, rounds[0].pulls)
        portions = Portions(source.blocks, race.order.undrawn(race.front), together)
        order = portions.by_weight(race.weight, race.rng)
        # Long pieces are read faster than the blocks of a race, so the speed is measured anew.
        own = Budget(self.problem, tally)
        start = read = 0
        while rounds and not race.budget.late():
            this = rounds.pop(0)
            rounds_left -= 1
            # Whole portions, rounded down: fewer of them for fewer arms never add up to more.
            stop = min(start + this.pulls // together, portions.count)
            if this.pulls + start * together >= unread:
                stop = portions.count  # the last ones may be shorter
            if read == 0 and self.problem.deadline is not None:
                # How long a round takes is not known before the first one.
                stop = min(stop, max(1, portions.count // MOST_ROUNDS))
            if stop == read:
                continue
            self._keep(this.arms)
            self._read(portions.blocks_of(order[read:stop]), portions)
            read = stop
            pulls = race.front + read * together
            tally.end_round(race.ledger.n_undecided, pulls, race.shown_threshold(), this.arms)
            if self.problem.deadline is not None:
                start, numbers = read, min(race.budget.affordable(), own.predicted())
                rounds = self._schedule(numbers, pulls, rounds_left)

    def _sampled_variances(self) -> Floats:
        """Return by how much a few arms differ in a few blocks, the largest weights first.

        None where even that would take a part of the budget.
        """
        race, source = self.race, self.problem.source
        positions = self.positions[:: math.ceil(len(self.positions) / SAMPLED_ARMS)]
        affordable = SAMPLED_SHARE * race.budget.predicted() / (len(positions) * source.blocks.size)
        if affordable < FEWEST_SAMPLED:
            return np.empty(0)
        unread = race.order.undrawn(race.front)
        some = unread[:: math.ceil(len(unread) / WEIGHED_BLOCKS)]
        some = some[np.argsort(-race.weight[some], kind="stable")]
        some = some[:: math.ceil(len(some) / min(affordable, SAMPLED_BLOCKS))].copy()
        sums = source.block_sums(self.problem.arms[positions], some)
        race.tally.numbers_read += len(positions) * int(source.blocks.sizes()[some].sum())
        with np.errstate(over="ignore", invalid="ignore"):
            variances: Floats = sums.var(axis=1)
        return variances

    def _schedule(self, numbers: int, before: int, rounds: int) -> list[NarrowRound]:
        """Return the rounds, in blocks, that spend so many numbers where so many blocks of each arm were read.

        The evaluation of the k answers is part of the budget, unless that is most of it.
        """
        source, race = self.problem.source, self.race
        numbers = max(numbers - self.problem.k * source.n_coordinates, numbers // 2)
        found = narrowing(
            len(self.positions),
            race.order.length,
            self.problem.k,
            [Limit(numbers / source.blocks.size), race.allowance.in_time(race, self.worth)],
            rounds=rounds,
            before=before,
        )
        return list(found)

    def _keep(self, count: int) -> None:
        """Set all arms aside but so many that seem best."""
        if count >= len(self.positions):
            return
        kept = among_largest(self._estimates(), count)
        self.positions, self.weight = self.positions[kept], self.weight[kept]
        self.high, self.low = self.high[kept], self.low[kept]

    def _read(self, blocks: Ints, portions: Portions) -> None:
        """Add up some blocks of the arms that are left.

        Norms that are promised are compared with those of the arms that are evaluated: to add up squares here,
        where nothing rests on them, would take twice as long.
        """
        race, intervals = self.race, self.problem.intervals
        centre, weight = race.centre[blocks], race.weight[blocks]
        arms = self.problem.arms[self.positions]
        found = self.problem.source.piece_totals(arms, blocks, centre, weight)
        race.tally.numbers_read += len(self.positions) * portions.numbers_in(blocks)
        if intervals.estimated:
            race.learn_limit(float(found.largest.max()))
        elif intervals.two_sided:
            limit = intervals.limit[self.positions]
            refuse_outside(self.problem, self.positions, blocks, found, limit)
        self.high, lost = add_exactly(self.high, found.high - centre.sum())
        self.low += lost + found.low
        self.weight = self.weight + float(weight.sum())
