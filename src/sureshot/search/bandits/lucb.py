"""LUCB: pull the weakest arm of the seeming top k and the strongest of the others.

Kalyanakrishnan, Tewari, Auer and Stone, *PAC subset selection in stochastic multi-armed bandits*,
ICML 2012, with the radius of its LUCB1.

Promise: (epsilon, delta)-PAC for the k best arms, any k; with epsilon = 0 exactly those, but for delta.
Constants as published, for rewards in an interval of width R: the radius in round t after u pulls is
``R sqrt(log(k1 n t**4 / delta) / (2 u))``, k1 = 5/4.

The proof is a union bound over arms, pulls u <= t and rounds t, and needs of each arm one side only:
the upper one of an arm of the true top k, the lower one of any other. The radius holds at all times, so
that the two arms may be pulled several times in a round, an eighth of the fewer pulls that they have; t
then counts each time as a round, and u <= t stays true. For absolute values both sides of the others
count, and n is doubled. Without replacement the radius is that of Hoeffding and Serfling, delta being
spread over the looks at an arm; these must not depend on the rewards, so that each arm is pulled in
steps of its own, and of the two always the one with fewer pulls.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact
from sureshot.search.bandits.pulls import Pulls, trivial
from sureshot.search.bandits.turns import Turns
from sureshot.search.problem import largest
from sureshot.theory import radii

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot._types import Floats
    from sureshot.search.problem import Answer, Problem, Tally


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:
    """Pull the two arms that matter until they differ enough."""
    if trivial(problem):
        return exact.search(problem, rng, tally)
    pulls = Pulls(problem, rng, tally, "lucb")
    n_bounds, delta = len(problem.arms) * pulls.sides, problem.delta
    turns = Turns(pulls, lambda count: radii.lucb(count, count, n_bounds, pulls.width, delta))
    if not turns.start():
        return pulls.answer(np.arange(problem.k), math.inf)
    rounds = int(pulls.counts[0])

    def current_radii() -> Floats:
        if not pulls.replacement:
            return turns.radii
        found = radii.lucb(pulls.counts, rounds, n_bounds, pulls.width, delta)
        found[pulls.known] = 0.0
        return found

    while True:
        means, radius = pulls.means, current_radii()
        chosen = largest(means, problem.k)
        lower, upper = means - radius, means + radius
        weakest = int(chosen[np.argmin(lower[chosen])])
        upper[chosen] = -np.inf
        strongest = int(np.argmax(upper))
        gap = float(upper[strongest] - lower[weakest])
        undecided = int(np.count_nonzero(upper > lower[weakest] + pulls.epsilon))
        turns.report(undecided, weakest, last=gap <= pulls.epsilon)
        if gap <= pulls.epsilon:
            return pulls.answer(chosen)
        both = [arm for arm in (weakest, strongest) if not pulls.known[arm]]
        fewest = min(both, key=lambda arm: int(pulls.counts[arm]))
        if not pulls.replacement:
            both = [fewest]
        count = turns.cost(fewest)
        if not pulls.budget.allows(len(both) * count):
            return pulls.answer(chosen, gap)
        for arm in both:
            turns.take(arm, count)
        rounds += count
