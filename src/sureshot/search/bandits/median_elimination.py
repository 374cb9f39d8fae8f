"""Median elimination: pull all arms, drop the worse half, and again.

Even-Dar, Mannor and Mansour, *PAC bounds for multi-armed bandit and Markov decision processes*, COLT
2002; in full in *Action elimination and stopping conditions ...*, JMLR 7 (2006).

Promise: (epsilon, delta)-PAC, top 1 only. Constants as published, for rewards in an interval of width
R: round l has ``epsilon_l = (3/4)**(l-1) epsilon / 4`` and ``delta_l = delta / 2**l``, and pulls each
arm ``4 (R / epsilon_l)**2 log(3 / delta_l)`` times anew.

The published proof conditions on the best arm not being underestimated, which needs arms that are
independent of each other. Counting the event that both go wrong instead, it needs only the marginal
bound for each arm and Markov's inequality, so that one sample of coordinates serves all arms of a
round. The published number of pulls has twice the logarithm that this needs; what is left over of
delta pays for stopping early (``docs/bandits.md``).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact
from sureshot.search.bandits.pulls import Pulls, trivial
from sureshot.theory import elimination

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._seed import Rng
    from sureshot._types import Ints
    from sureshot.search.problem import Answer, Problem, Tally
    from sureshot.theory.elimination import FreshRound

# A round fails with probability at most 5 (delta_l / 3)**2, all rounds together with less than a
# fifth of delta. The rest is for the bounds of all arms that a stop after round l needs.
LOG_REST = math.log(1 / 0.8)


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:
    """Halve the arms until one is left."""
    if trivial(problem):
        return exact.search(problem, rng, tally)
    pulls = Pulls(problem, rng, tally, "median-elimination")
    rounds = elimination.median_elimination(
        len(problem.arms), pulls.epsilon, -math.log(problem.delta), pulls.width, pulls.lists()
    )
    best, reached = eliminate(pulls, np.arange(len(problem.arms)), rounds, report=True)
    return pulls.answer(best, reached)


def eliminate(
    pulls: Pulls, alive: Ints, rounds: Sequence[FreshRound], *, report: bool
) -> tuple[Ints, float | None]:
    """Return the arm that is left, and None; or what can be promised if it had to stop early."""
    best, reached, lost = alive[:1], math.inf, 0.0
    for this in rounds:
        if pulls.too_many(this.pulls, alive):
            pulls.evaluate(alive)
            return pulls.best_of(alive), None
        sample = pulls.fresh(alive, this.pulls)
        # If the search has to stop here: what earlier rounds may have lost, and the two arms that
        # the best one and the seeming best one may be mistaken for.
        promise = lost + 2 * sample.radius(this.log_inverse_delta + LOG_REST)
        if promise <= reached:
            best, reached = pulls.best_of(alive), promise
        if not sample.enough(this.pulls):
            return best, reached
        order = np.lexsort((alive, -sample.means))
        alive = np.sort(alive[order[: this.keep]])
        lost += this.epsilon
        if report:
            pulls.tally.end_round(len(alive), int(pulls.counts[alive[0]]))
    return alive, None
