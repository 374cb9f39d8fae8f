"""lil' UCB: always pull the arm that may be best, with bounds as tight as the iterated logarithm.

Jamieson, Malloy, Nowak and Bubeck, *lil' UCB: an optimal exploration algorithm for multi-armed
bandits*, COLT 2014.

Promise: the best arm but for delta (epsilon = 0), top 1 only; with an epsilon it stops once an arm is
certainly that good. Constants as published, for rewards in an interval of width R, which are
sub-Gaussian with sigma = R / 2: the bound of Lemma 3 with its epsilon = 0.01; the arm pulled next has
the largest mean plus (1 + beta) times that bound, beta = 1, at the published level
``(sqrt(1 + delta) - 1)**2 / (4 c)``.

The published rule for stopping is that one arm has lambda times the pulls of all others. The theorem
says that some lambda is right; the 9 of the experiments is its limit for delta to 0, not a value that
is proved for a given delta, and the proof needs arms that are independent. So the search stops here when the
bound of Lemma 3, at level delta / n for each arm, separates the leader from all others: what Jamieson and
Nowak (*Best-arm identification algorithms for multi-armed bandits in the fixed confidence setting*, CISS
2014) call lil' UCB with the LS rule. That needs only a union bound over arms, and nothing of the rule
by which arms are pulled, so that an arm is pulled an eighth of its pulls at a time. Without replacement
the radius is that of Hoeffding and Serfling, delta being spread over the looks at an arm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact
from sureshot.search.bandits.pulls import Pulls, trivial
from sureshot.search.bandits.turns import Turns
from sureshot.theory import radii

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot.search.problem import Answer, Problem, Tally

BETA = 1.0


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:
    """Pull the arm that may be best until it certainly is."""
    if trivial(problem):
        return exact.search(problem, rng, tally)
    pulls = Pulls(problem, rng, tally, "lil-ucb")
    level = radii.lil_log_level(len(problem.arms) * pulls.sides, problem.delta)
    turns = Turns(pulls, lambda count: radii.lil(count, pulls.width, level))
    if not turns.start():
        return pulls.answer(np.arange(1), math.inf)
    bonus = np.full(len(problem.arms), _bonus(turns, 0))
    while True:
        means = pulls.means
        lower, upper = means - turns.radii, means + turns.radii
        leader = int(np.argmax(lower))
        upper[leader] = -np.inf
        gap = float(upper.max() - lower[leader])
        undecided = int(np.count_nonzero(upper > lower[leader] + pulls.epsilon))
        turns.report(undecided, leader, last=gap <= pulls.epsilon)
        if gap <= pulls.epsilon:
            return pulls.answer(np.array([leader]))
        pulled = int(np.argmax(np.where(pulls.known, -np.inf, means + bonus)))
        count = turns.cost(pulled)
        if not pulls.budget.allows(count):
            return pulls.answer(np.array([leader]), gap)
        turns.take(pulled, count)
        bonus[pulled] = _bonus(turns, pulled)


def _bonus(turns: Turns, position: int) -> float:
    """Return what is added to the mean of an arm to see whether it may be best."""
    pulls = turns.pulls
    if not pulls.replacement:
        return (1 + BETA) * float(turns.radii[position])
    delta = pulls.problem.delta
    # sqrt(1 + delta) - 1 is delta / (sqrt(1 + delta) + 1), which loses no digits.
    log_root = math.log(delta) - math.log(math.sqrt(1 + delta) + 1)
    level = math.log(4 * radii.LIL_FACTOR) - 2 * log_root
    return (1 + BETA) * radii.lil(int(pulls.counts[position]), pulls.width, level)
