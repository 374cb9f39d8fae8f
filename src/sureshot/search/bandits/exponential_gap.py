"""Exponential-gap elimination: guess the gap, find an arm that good, drop what is far behind it.

Karnin, Koren and Somekh, *Almost optimal exploration in multi-armed bandits*, ICML 2013.

Promise: the best arm but for delta (epsilon = 0), top 1 only; with an epsilon it ends with the round
that finds an arm that good. Constants as published, for rewards in an interval of width R: round r has
``epsilon_r = R 2**-r / 4`` and ``delta_r = delta / (50 r**3)``, pulls each arm ``2 (R / epsilon_r)**2
log(2 / delta_r)`` times anew, asks median elimination for an arm within ``epsilon_r / 2`` of the best but for
delta_r, and drops the arms that are more than epsilon_r behind it.

These constants are made for the best growth with n, not for use: the first call of median elimination
alone pulls each arm more than 10**5 times. The proof needs the marginal bound for the best arm and for the
one that median elimination found, whose pulls are fresh; so one sample of coordinates serves all arms.
Fewer than a tenth of delta is spent on all rounds together; the rest pays for stopping early
(``docs/bandits.md``).
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact
from sureshot.search.bandits.median_elimination import eliminate
from sureshot.search.bandits.pulls import Pulls, trivial
from sureshot.theory import elimination

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot.search.problem import Answer, Problem, Tally

# What is left of delta, for the bounds of all arms that a stop in round r needs.
LOG_REST = math.log(1 / 0.9)


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:
    """Halve the gap that is looked for until one arm is left."""
    if trivial(problem):
        return exact.search(problem, rng, tally)
    pulls = Pulls(problem, rng, tally, "exponential-gap")
    log_inverse_delta = -math.log(problem.delta)
    alive = np.arange(len(problem.arms))
    best, reached = alive[:1], math.inf
    for number in itertools.count(1):
        this = elimination.exponential_gap(number, log_inverse_delta, pulls.width, pulls.lists())
        if pulls.too_many(_most_pulls(this, len(alive), pulls), alive):
            pulls.evaluate(alive)
            break
        sample = pulls.fresh(alive, this.pulls)
        log_parts = math.log(number * (number + 1)) + LOG_REST
        promise = 2 * sample.radius(log_inverse_delta + log_parts)
        if promise <= reached:
            best, reached = pulls.best_of(alive), promise
        if sample.known:
            break
        if not sample.enough(this.pulls):
            return pulls.answer(best, reached)
        inner = elimination.median_elimination(
            len(alive), this.epsilon / 2, this.log_inverse_delta, pulls.width, pulls.lists()
        )
        reference, stopped = eliminate(pulls, alive, inner, report=False)
        if stopped is not None:
            return pulls.answer(best, reached)
        if this.epsilon / 2 <= pulls.epsilon:
            return pulls.answer(reference)
        mean_of_reference = sample.means[np.searchsorted(alive, reference[0])]
        alive = alive[sample.means >= mean_of_reference - this.epsilon]
        tally.end_round(len(alive), int(pulls.counts[reference[0]]))
        if len(alive) == 1:
            break
    return pulls.answer(pulls.best_of(alive))


def _most_pulls(this: elimination.GapRound, n_arms: int, pulls: Pulls) -> float:
    """Return the most pulls that a step of the round, with replacement, asks of an arm."""
    if not pulls.replacement:
        return 0.0
    inner = elimination.median_elimination(
        n_arms, this.epsilon / 2, this.log_inverse_delta, pulls.width
    )
    return max(this.pulls, *(round.pulls for round in inner))
