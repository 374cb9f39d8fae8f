"""Successive halving: spend equal parts of a budget on half as many arms each time.

Karnin, Koren and Somekh, *Almost optimal exploration in multi-armed bandits*, ICML 2013, where it is
called sequential halving.

Promise: none for a given delta. The budget is the parameter; the paper bounds the error by a number that
depends on the unknown means. Top 1 only. As published: ``ceil(log2 n)`` rounds, each with an equal part
of the budget, spread evenly over the arms that are left; a round ranks the arms by its own pulls.

The published bound compares two arms that are pulled independently of each other. One sample of
coordinates serves all arms here: for the worst data that halves the exponent of the bound, and for
rewards that go up and down together, as usual, it makes comparisons sharper. Without replacement a round
ranks the arms by all pulls so far, and no arm has more than N.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact
from sureshot.search.bandits.pulls import Pulls
from sureshot.theory import budgets

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot.search.problem import Answer, Problem, Tally

REFUSAL = "nothing is promised: successive halving spends a budget and bounds no error"


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:
    """Spend the budget."""
    if not (problem.intervals.weight > 0).any():
        return exact.search(problem, rng, tally)
    pulls = Pulls(problem, rng, tally, "successive-halving")
    alive, budget = np.arange(len(problem.arms)), problem.budget or 0
    if len(alive) == 1:
        pulls.add(alive, budget if pulls.replacement else min(budget, pulls.n_rewards))
    for this in budgets.successive_halving(len(alive), budget):
        if pulls.replacement:
            pulls.fresh(alive, this.pulls)
        else:
            pulls.add(alive, min(this.pulls, pulls.n_rewards - int(pulls.counts[alive[0]])))
        order = np.lexsort((alive, -pulls.scores[alive]))
        alive = np.sort(alive[order[: this.keep]])
        tally.end_round(len(alive), int(pulls.counts[alive[0]]))
    return pulls.answer(alive, refusal=REFUSAL)
