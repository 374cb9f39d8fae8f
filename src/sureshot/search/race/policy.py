"""When to evaluate, suspend, resume and finish: rules of cost, never of correctness.

The guarantee holds for any value that these functions return; they decide how much is read. The figures
behind the constants are in ``docs/policy.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from sureshot._native import BYTES_OF_BET, STEPS_PER_GROUP

if TYPE_CHECKING:
    from sureshot._types import Floats
    from sureshot.search.race.costs import Costs


@dataclass(frozen=True, slots=True)
class Policy:
    """The constants of the rules below."""

    # Before a race: what evaluating every arm costs over what the first rounds cost.
    least_gain: float = 2.75  # below this nothing is raced,
    sure_gain: float = 10.0  # from this on everything is; between the two a sample of arms decides,
    worth_a_sample: float = 5e6  # if evaluating every arm takes this long, in nanoseconds
    sampled_arms: int = 128
    sampled_gain: float = 1.5  # that the sample must predict, since it is small
    sampled_trust: float = 0.5  # of what is wanted: a prediction below that is believed at once
    sampled_doubt: float = 6.0  # times what is wanted: a prediction above that is believed at once,
    sampled_steps: int = 128  # up to this step one below is made again,
    sampled_share: float = 0.02  # if a round of the sample costs no more of what is wanted

    # Where norms are known the arms with the largest limits begin, and some of the others are never read.
    beginners: float = 0.125  # share of the arms that begin
    reachable: float = (
        0.5  # of the limit of the last of these: what the threshold is expected to reach
    )
    waiting_rounds: int = 4  # that it may cost to let the others wait

    # Rounds. A front is the number of steps that all active arms have read.
    first_front: int = 4
    second_front: int = 8
    growth: float = 1.2  # of the front, at least
    largest_growth: float = 2.0  # of the front, where a round is longer to be worth its fixed cost
    trip: float = 1e6  # nanoseconds of a round from which on it is a trip to other processes,
    growth_over_trips: float = 4.0  # and the front may grow by so much
    few_beaten: float = 0.05  # share of the active arms that may be beaten before a round ends
    longest_round: float = (
        4.0  # growth of the front while fewer than that are predicted to be beaten
    )

    # Candidates and slow arms.
    caution: float = 0.5  # standard errors taken off an estimate before it makes a guess
    patience: float = 3.0  # times the expected waste that evaluating now may cost another round
    most_slow_arms: int = 512  # active arms at most for the slow ones among them to be evaluated

    # Reading the arms that are left to the end. Costs are shares of what reading everything costs.
    finish_after: float = 0.07  # spent before it is considered
    rough_until: float = 0.2  # spent before predictions use the exact threshold, not the likely one
    rough_steps: int = 64  # read before that, too
    probe_from: float = (
        2.0  # times cheaper by estimates to read to the end than to sample on: then,
    )
    probes: int = 2  # where rows are expensive, so many arms that seem best are evaluated to see
    ask_again_after: float = 1.5  # times the steps at which it did not pay by far
    replay_from: float = (
        0.5  # predicted cost, of reading to the end, that is worth a replay of all bets
    )
    fewest_steps: int = 32  # before anything is predicted
    most_memory: float = 1.3  # of the bytes that bets may take, predicted for the end of the search

    # Under a budget the race is asked whether to go on: if it is predicted to end, or if the arms that seem
    # best are so for good, and only the certificate gains. Else the rest is spent on those arms.
    least_raced: int = (
        64  # numbers of each arm that are raced with before that, for any budget, and
    )
    racing_share: float = 0.12  # of the budget
    clear_estimates: float = 0.25  # of the variance of all estimates, that may be error
    racing_cost: float = 0.08  # of what reading everything costs, that it may cost at most
    longest_race: float = 0.3  # of that, for all that a race may cost if it goes on
    most_cost: float = 0.9  # of what reading everything costs, for all that a budget reads
    most_variance: float = 0.97  # of scores, that the time of reading everything is worth
    rounds_cost: float = 0.2  # of that, for the rounds in which the arms that seem best are read,
    fewest_rounds: int = 6  # of which there are so many, however small the data is,
    least_cost: float = 0.7  # and they may read for so much of what reading everything costs
    most_evaluated: int = (
        4  # times k, of the arms that seem best, at the end if the budget allows it
    )
    sure_seconds: float = (
        10.0  # times what evaluating every arm costs that a time limit must allow for it
    )

    # When the ledger judges an arm again, and how it predicts; wealth is a logarithm to the base 2.
    eagerness: float = 0.85  # judged when predicted to have this share of the wealth that wins,
    longest_wait: float = 2.0  # at the latest when it has this many times the steps of last time
    least_wealth: float = 1e-3  # that is extrapolated; less counts as this
    trend_steps: int = 48  # replayed before the growth of wealth predicts anything
    trend_start: float = 0.5  # of the steps: the growth since then is what goes on
    trend_renewal: float = 0.75  # of the steps: a replay that ended before starts a new trend
    least_growth: float = 0.5  # of wealth; less may be chance, and counts as this
    predicted_arms: int = 1024  # suspended ones, from which the steps of all of them are predicted


DEFAULT = Policy()

# Under a budget the smallest stake is the best one for a search of as many steps as it affords if no arm
# is dropped; with a time limit, of this many.
STEPS_WITHIN_TIME = 100

# Limits from which their distribution is estimated.
SAMPLED_LIMITS = 1024


def racing_steps(policy: Policy, costs: Costs, steps: float, length: int, block: int) -> int:
    """Return up to which step a race reads before it is asked whether its budget, of `steps`, is enough.

    `block` is how many numbers a step reads of an arm.
    """
    within = policy.racing_cost * costs.rest * length / costs.step
    more = math.floor(min(policy.racing_share * steps, within))
    return max(policy.first_front, math.ceil(policy.least_raced / block)) + more


def worth_reading(policy: Policy, variances: Floats) -> float:
    """Return for how much of the time of reading everything it pays to read.

    `variances` say how much scores differ by some blocks, evenly chosen, in the order in which these are read: where the
    first hold nearly all of it, more time finds hardly more.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        held = np.cumsum(variances)
    if len(held) == 0 or not 0 < held[-1] < math.inf:
        return 1.0
    needed = np.searchsorted(held, policy.most_variance * held[-1]) + 1
    return min(1.0, float(needed) / (policy.most_variance * len(held)))


def estimates_are_clear(policy: Policy, estimates: Floats, errors: Floats) -> bool:
    """Return whether estimates differ by far more than they are off."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.square(errors).mean() < policy.clear_estimates * estimates.var())


def limit_to_begin(
    policy: Policy, costs: Costs, limits: Floats, k: int, length: int
) -> float | None:
    """Return the smallest limit of the score with which arms are read first, if the others should wait.

    Those of them that cannot reach the threshold which the first arms set are never read. It may turn out that
    all of the first k that are evaluated were not among the best.
    """
    if policy.beginners * len(limits) < 2 * k:
        return None
    some = np.sort(limits[:: math.ceil(len(limits) / SAMPLED_LIMITS)])
    least = float(some[math.floor((1 - policy.beginners) * len(some))])
    never_read = np.searchsorted(some, policy.reachable * least) / len(some) * len(limits)
    # Many of them would have been suspended after a first look.
    saved = never_read * (costs.visit + policy.first_front * costs.step)
    at_risk = policy.waiting_rounds * costs.round + costs.of_rows(k, length)
    return least if saved > at_risk else None


def next_front(
    policy: Policy, costs: Costs, front: int, length: int, arms: int, *, guessed: bool = False
) -> int:
    """Return up to which step the next round reads that many arms, with or without a guess of the threshold."""
    # To come back to an arm costs something, and so does a round: both are worth some steps.
    worth_a_visit = math.ceil(costs.visit / costs.step)
    if front < policy.first_front and not guessed:
        # Without a guess there are no bets, and many arms may need no more than a first look.
        wanted = policy.first_front
    elif front < policy.second_front:
        wanted = max(policy.second_front, front + worth_a_visit)
    else:
        worth_a_round = math.ceil(costs.round / (costs.step * max(arms, 1)))
        largest = policy.largest_growth if costs.round < policy.trip else policy.growth_over_trips
        longest = math.ceil(front * (largest - 1))
        growth = math.ceil(front * (policy.growth - 1))
        wanted = front + max(growth, worth_a_visit, min(worth_a_round, longest))
    if costs.visit > 0 and wanted > policy.first_front:
        wanted = math.ceil(wanted / STEPS_PER_GROUP) * STEPS_PER_GROUP
    return min(wanted, length)


def predicted_front(policy: Policy, costs: Costs, front: int, length: int, predicted: float) -> int:
    """Return up to which step a round may read if few arms are beaten before `predicted`."""
    if costs.visit == 0:
        return 0
    wanted = min(predicted, policy.longest_round * front)
    return min(math.floor(wanted / STEPS_PER_GROUP) * STEPS_PER_GROUP, length)


def kth_largest(values: Floats, k: int) -> float:
    """Return the k-th largest of `values`, or minus infinity if there are fewer."""
    if len(values) < k:
        return -math.inf
    return float(np.partition(values, len(values) - k)[len(values) - k])


def evaluation_pays(
    policy: Policy, waste: float, evaluation: float, next_round: float, again: float = 0.0
) -> bool:
    """Return whether to evaluate the candidates exactly now.

    Each candidate may turn out not to belong to the top k; the expected number of such wasted
    evaluations, times what one costs, is compared with another round for the other arms. `again` is what it costs
    not to wait for others to be evaluated together with.
    """
    return policy.patience * waste * evaluation + again <= next_round


def steps_by_agreement(
    earlier: Floats, later: Floats, errors: Floats, front: int, missing: float, reach: float, k: int
) -> float:
    """Return how many steps an arm needs, by how its first estimate agrees with one from other steps.

    What both have in common, from arm to arm, are the scores; what all arms have in common counts for nothing. The k-th
    best of normal scores is so far from most that the bets against these grow by `missing` in so many steps: with stakes
    that their variance allows, by the standard `errors` of all steps up to the front, and that their limits do, which
    allow a score of `reach`.

    Examples
    --------
    >>> scores = np.random.default_rng(0).standard_normal(1000)
    >>> round(steps_by_agreement(scores, scores, np.full(1000, 2.0), 100, 5.0, 0.0, 10))
    800
    >>> steps_by_agreement(scores, -scores, np.full(1000, 2.0), 100, 5.0, 0.0, 10)
    inf
    """
    n_arms = len(earlier)
    if 2 * k >= n_arms:
        return math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(np.mean((earlier - earlier.mean()) * (later - later.mean())))
        # Less what chance may add to it.
        spread -= float(earlier.std() * later.std()) / math.sqrt(n_arms)
        error = float(np.mean(np.square(errors)))
    square = NormalDist().inv_cdf(1 - k / n_arms) ** 2 * spread  # of the distance
    if not (0 < square < math.inf and math.isfinite(error)):
        return math.inf
    return max(2 * missing * front * error / square, missing * reach / math.sqrt(square))


def looking_again_pays(costs: Costs, waiting: int, candidates: int, length: int) -> bool:
    """Return whether to judge so many suspended arms again costs less than the candidates would in vain."""
    return costs.visit * waiting < costs.of_rows(candidates, length)


def few_arms_are_slow(costs: Costs, arms: int, steps: int, length: int) -> bool:
    """Return whether to evaluate that many arms costs less than to read so many steps of them.

    Bets are placed on many arms at a time, so a step costs something however few they are.
    """
    return costs.of_rows(arms, length) < costs.of_steps(arms, steps)


def how_many_to_evaluate(costs: Costs, needed: Floats, front: int, length: int) -> int:
    """Return how many of some arms to evaluate now, those that need the most steps.

    The others are read on until they are beaten. What one of them costs then is little, but a long
    order must be drawn for it, round by round.
    """
    most, together = float(needed.max()), float(needed.sum())
    without = (
        costs.lone_step * together + costs.draw * most + costs.round * math.log2(1 + most / front)
    )
    if without <= costs.of_rows(1, length):
        return 0
    slowest = np.append(np.sort(needed)[::-1], 0.0)
    left = np.cumsum(slowest[::-1])[::-1]
    rounds = np.log2(1 + slowest / front)
    cost = costs.lone_step * left + costs.draw * slowest + costs.round * rounds
    cost += costs.of_rows(np.arange(len(slowest), dtype=np.float64), length)
    cost[0] -= costs.of_rows(0, length)
    return int(np.argmin(cost))


def finishing_may_pay(
    policy: Policy,
    costs: Costs,
    front: int,
    steps: int,
    ahead: int,
    blocks: float,
    ledger_bytes: int,
    besides: float = 0.0,
) -> bool:
    """Return whether so much has been spent that to go on must be worth it.

    Asked before the next round spends more, and when the bets take too much memory. `steps` is how many all
    arms have read together, `ahead` how many the next round reads, `blocks` how many there are, `besides` what
    has been spent besides steps.
    """
    if front < policy.fewest_steps:
        return False
    allowed = policy.finish_after * costs.rest * blocks
    return (
        costs.step * (steps + ahead) + besides > allowed
        or ledger_bytes * (steps + ahead) > costs.ledger_bytes * steps
    )


def predictions_are_rough(
    policy: Policy, costs: Costs, front: int, steps: int, blocks: float
) -> bool:
    """Return whether so little was read, `steps` of all `blocks`, that predictions may be far off.

    They are made from few steps, and from a threshold that will rise. To go on by mistake costs a
    part of what reading everything costs, to give up by mistake most of it.
    """
    spent = costs.step * steps
    return front < policy.rough_steps or spent < policy.rough_until * costs.rest * blocks


def finishing_pays(
    policy: Policy,
    costs: Costs,
    needed: float,
    unread: float,
    blocks: float,
    all_blocks: float,
    ledger_bytes: int,
    margin: float = 1.0,
    *,
    ahead: float = 0.0,
) -> bool:
    """Return whether to read all undecided arms to the end instead of sampling on.

    `needed` is how many steps they are predicted to need together, `unread` how many they have not
    read, `blocks` how many they have, `all_blocks` how many all arms have; `margin` says how many
    times cheaper it must be, `ahead` how many steps are read next for sure.
    """
    # What is predicted counts when half of the memory is taken: the first predictions are rough.
    if 2 * ledger_bytes > costs.ledger_bytes:
        ahead = max(ahead, needed)
    too_much = ledger_bytes + BYTES_OF_BET * ahead > policy.most_memory * costs.ledger_bytes
    # What was sampled of a row is read again if it is read whole: to sample everything costs no more
    # only where nothing but the pulls costs.
    return (
        costs.step * needed > margin * min(costs.row * blocks, costs.rest * all_blocks)
        or needed >= unread
        or too_much
    )
