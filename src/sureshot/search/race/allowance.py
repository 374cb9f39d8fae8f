"""How much of a budget the race itself may spend; the rest is for the arms that seem best.

A rule of cost, as all in ``policy.py``: the guarantee holds for any part.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sureshot.search.race import policy
from sureshot.search.race.costs import cost_of_pieces
from sureshot.theory.narrowing import MOST_ROUNDS, Limit

if TYPE_CHECKING:
    from sureshot.search.race.race import Race


class Allowance:
    """The share of the budget that one race may spend. It grows as long as it pays to race on.

    It does not keep the race, which has it: in a cycle neither would end with the search.
    """

    def __init__(self, race: Race) -> None:
        problem = race.problem
        self.limited = problem.limited
        self.share = self._first_share(race) if self.limited else 1.0

    def _first_share(self, race: Race) -> float:
        """Return the share after which it is asked for the first time.

        Where each number is paid for, all of it: the arms that seem best are not read by themselves.
        """
        problem = race.problem
        if problem.source.costs.each_number_is_paid:
            return 1.0
        if problem.budget is None:
            return race.rules.racing_share
        size = problem.source.blocks.size
        affordable = problem.budget / (len(problem.arms) * size)
        costs = race.costs
        if problem.source.coordinate_major:
            # A round has as many steps as its visits are worth: by column, where these count, it costs twice as much.
            costs = replace(costs, step=2 * costs.step)
        steps = policy.racing_steps(race.rules, costs, affordable, race.order.length, size)
        return min(1.0, steps / max(affordable, 1.0))

    def steps(self, race: Race, active: int) -> int:
        """Return how many steps of that many arms may be read now."""
        numbers = active * race.problem.source.blocks.size
        steps = race.budget.predicted(self.share) // numbers
        while steps == 0 and self.share < 1 and self._racing_on_pays(race):
            self.share = min(1.0, race.rules.ask_again_after * self.share)
            steps = race.budget.predicted(self.share) // numbers
        return steps

    def rounds(self, race: Race) -> int:
        """Return how many rounds the arms that seem best may be read in."""
        worth = race.rules.rounds_cost * self.cost_of_everything(race) / max(race.costs.round, 1.0)
        return max(race.rules.fewest_rounds, math.floor(min(worth, MOST_ROUNDS)))

    def in_time(self, race: Race, worth: float = 1.0) -> Limit:
        """Return what may be spent on these arms, of the time that the exact product would take.

        Of that, `worth` is how much it pays to read. Where rounds alone take longer, reading is still worth something.
        """
        everything = worth * self.cost_of_everything(race)
        return Limit(
            race.rules.most_cost * everything - _cost_so_far(race),
            partial(cost_of_pieces, race.problem.source),
            round=race.costs.round,
            least=race.rules.least_cost * everything,
        )

    @staticmethod
    def cost_of_everything(race: Race) -> float:
        """Return what reading every arm to the end costs."""
        return race.costs.rest * race.order.length * len(race.problem.arms)

    def _racing_on_pays(self, race: Race) -> bool:
        """Return whether the race is predicted to end within the budget and in good time.

        Or, for a while, if the best arms are clear: then only the certificate can gain.
        """
        ledger, rules = race.ledger, race.rules
        spent, everything = _cost_so_far(race), self.cost_of_everything(race)
        if rules.ask_again_after * spent > rules.most_cost * everything:
            return False  # the exact product would be cheaper
        likely = max(race.threshold, ledger.likely_threshold(race.problem.k))
        theta = likely + race.problem.epsilon
        needed, _ = ledger.remaining_steps(
            race.problem.team, race.order.length, theta, race.log_level
        )
        unknown = max(0, race.problem.k - len(race.known_scores()))
        steps = needed + unknown * race.order.length
        within = steps * race.problem.source.blocks.size <= race.budget.predicted()
        if within and spent + race.costs.step * needed <= rules.most_cost * everything:
            return True
        left = race.undecided()
        estimates, errors = ledger.estimates[left], ledger.errors[left]
        clear = race.front > 0 and policy.estimates_are_clear(rules, estimates, errors)
        return clear and rules.ask_again_after * spent <= rules.longest_race * everything


def _cost_so_far(race: Race) -> float:
    """Return what a race has cost; by column, where that is far more than the steps, with its rounds."""
    spent = race.costs.step * race.steps_read
    if not race.problem.source.coordinate_major:
        return spent
    rounds = race.costs.round * (len(race.fronts) - 1)
    rows = race.costs.row * race.order.length * len(race.known_scores())
    return spent + race.cost_of_visits() + rounds + rows
