"""Successive elimination: pull all arms that may be best, drop those that cannot be.

Even-Dar, Mannor and Mansour, *Action elimination and stopping conditions for the multi-armed bandit
and reinforcement learning problems*, JMLR 7 (2006).

Promise: the best arm but for delta (epsilon = 0), or (epsilon, delta)-PAC by stopping, as the paper
remarks, once the radius is at most epsilon / 2. Top 1 only. Constants as published, for rewards in an
interval of width R: the radius after t pulls is ``R sqrt(log(c n t**2 / delta) / t)`` with c = 5 (the
paper: c > 4), and an arm goes when it is more than two radii behind. It holds at all times, so that
looking less often than after every pull, as done here, breaks nothing.

The proof is a union bound over arms and times. It needs only the marginal bound for each arm, so that
one sample of coordinates serves all of them. Without replacement the radius is that of Hoeffding and
Serfling, delta being spread over the looks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact
from sureshot.search.bandits.pulls import Pulls, trivial
from sureshot.theory import radii
from sureshot.theory.looks import next_look

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot.search.problem import Answer, Problem, Tally


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:
    """Pull and drop until one arm is left, or all that are left are good enough."""
    if trivial(problem):
        return exact.search(problem, rng, tally)
    pulls = Pulls(problem, rng, tally, "successive-elimination")
    alive = np.arange(len(problem.arms))
    best, count, look, radius = alive[:1], 0, 0, math.inf
    while len(alive) > 1 and 2 * radius > pulls.epsilon:
        wanted = next_look(count)
        if not pulls.replacement:
            wanted = min(wanted, pulls.n_rewards)
        if pulls.too_many(wanted, alive):
            pulls.evaluate(alive)
            return pulls.answer(pulls.best_of(alive))
        if not pulls.budget.allows(len(alive) * (wanted - count)):
            return pulls.answer(best, 2 * radius)
        pulls.add(alive, wanted - count)
        count, look = wanted, look + 1
        radius = _radius(pulls, look, count)
        means = pulls.means[alive]
        best = pulls.best_of(alive)
        alive = alive[means >= means.max() - 2 * radius]
        tally.end_round(len(alive), count)
    return pulls.answer(best)


def _radius(pulls: Pulls, look: int, count: int) -> float:
    n_arms, delta = len(pulls.counts), pulls.problem.delta
    if pulls.replacement:
        return radii.successive_elimination(count, n_arms, pulls.width, delta)
    n_bounds = n_arms * pulls.sides
    return radii.at_look(look, count, pulls.width, n_bounds, delta, pulls.n_rewards)
