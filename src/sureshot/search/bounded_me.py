"""BoundedME, Algorithm 1 of Liu, Wu and Mozafari (AAAI 2019): halve the arms, round by round.

The schedule is fixed before the first pull. Rewards are centred, so that the width R of the
paper's bound is twice the largest weight; coordinates of weight 0 are never read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot._seed import generator_of
from sureshot.search import certificate, exact
from sureshot.search.problem import Answer, largest
from sureshot.search.reward_limits import checked_totals
from sureshot.theory import schedule

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot.search.problem import Problem, Tally

# Not called unconditional: that word is for theorems whose proof is complete.
AS_PUBLISHED = "BoundedME's theorem as published (docs/theory.md names two gaps in its proof)"


# Of all numbers: a schedule that reads more has no advantage over the exact product, which reads them in the
# order in which they are stored, and proves more.
NEARLY_EVERYTHING = 0.9


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:
    """Run the schedule."""
    source, k, intervals = problem.source, problem.k, problem.intervals
    drawable = np.flatnonzero(intervals.weight > 0)
    n_rewards = len(drawable)
    if n_rewards == 0:
        return exact.search(problem, rng, tally)
    width = 2 * float(intervals.weight.max()) * float((problem.scale * intervals.limit).max())
    rounds = schedule.bounded_me(
        len(problem.arms),
        n_rewards,
        k,
        problem.epsilon / n_rewards,
        problem.delta,
        width,
        # A bad arm can be overestimated in as many ways as signs count, a good one underestimated.
        ways=len(problem.signs) + 1,
    )
    at_once = not rounds or rounds[0].pulls == n_rewards
    if at_once or _reads_nearly_everything(problem, rounds):
        tally.choice = "every arm evaluated: the schedule would read nearly everything"
        return exact.search(problem, rng, tally)

    order = drawable[generator_of(rng).permutation(n_rewards)]
    constant = float(intervals.centre.sum())
    alive = np.arange(len(problem.arms))
    sums = np.zeros(len(alive))  # of the centred rewards pulled so far
    estimates = sums
    pulls = 0
    for this in rounds:
        # Only the set of coordinates matters here, so it is read in address order.
        coordinates = np.sort(order[pulls : this.pulls])
        found = checked_totals(problem, alive, coordinates, intervals.limit[alive])
        sums += (found.high - intervals.centre[coordinates].sum()) + found.low
        tally.numbers_read += len(alive) * len(coordinates)
        pulls = this.pulls
        estimates = problem.scores(alive, sums * (n_rewards / pulls) + constant)
        kept = np.sort(largest(estimates, this.keep))
        alive, sums, estimates = alive[kept], sums[kept], estimates[kept]
        tally.end_round(len(alive), pulls)

    scores_known = pulls == n_rewards
    if not source.costs.each_number_is_paid:
        estimates = problem.scores(alive, source.exact_scores(problem.arms[alive]))
        tally.numbers_read += k * source.n_coordinates
        tally.exact_scores += k
        scores_known = True
    proved = certificate.promise(
        problem,
        problem.epsilon,
        theorem=AS_PUBLISHED,
        scores_known=scores_known,
        every_position=k == 1,
    )
    return Answer(alive, estimates, proved, "bounded-me")


def _reads_nearly_everything(problem: Problem, rounds: tuple[schedule.Round, ...]) -> bool:
    """Return whether the schedule reads nearly all numbers; those that are paid for are worth saving."""
    before = [0, *(this.pulls for this in rounds)]
    pulls = sum(this.arms * (this.pulls - last) for this, last in zip(rounds, before, strict=False))
    everything = len(problem.arms) * problem.source.n_coordinates
    paid = problem.source.costs.each_number_is_paid
    return not paid and pulls > NEARLY_EVERYTHING * everything
