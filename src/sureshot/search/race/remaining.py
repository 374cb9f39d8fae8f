"""What is left of a race: whether to sample it is predicted to cost more than to read it to the end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot._native import ACTIVE, SUSPENDED
from sureshot.search.problem import largest
from sureshot.search.race import policy

if TYPE_CHECKING:
    from sureshot._types import Ints
    from sureshot.search.race.race import Race


def much_is_spent(race: Race, ahead: int) -> bool:
    """Return whether to ask, before so many steps of all arms together are read, if to give up is better."""
    return policy.finishing_may_pay(
        race.rules,
        race.costs,
        race.front,
        race.steps_read,
        ahead,
        float(race.order.length) * (len(race.problem.arms) - race.put_off),
        race.ledger.bytes,
        race.cost_of_visits(),
    )


def arms_to_finish(race: Race) -> Ints:
    """Return the undecided arms if to read them to the end is cheaper than to sample on."""
    nothing = np.empty(0, dtype=np.int64)
    if race.allowance.share < 1 and not race.affords(race.undecided()):
        return nothing
    if race.front < race.rules.fewest_steps:
        return nothing
    ahead = race.steps_ahead()
    # To predict takes about as long as a round: not in every round, while memory is no matter.
    asked = race.steps_read + ahead < race.next_look
    if asked and 2 * race.ledger.bytes < race.costs.ledger_bytes:
        return nothing
    if not much_is_spent(race, ahead):
        return nothing
    if race.put_off:
        # Nothing can be predicted of arms that were never read.
        waiting = race.ledger.arms_with(SUSPENDED)
        unread = waiting[race.ledger.steps[waiting] == 0]
        race.drop(unread)
        race.catch_up(unread[race.ledger.status[unread] == SUSPENDED])
        race.put_off = 0
        return nothing
    if race.threshold == -math.inf and race.survey is not None:
        if _racing_seems_to_pay(race):
            race.next_look = race.rules.ask_again_after * race.steps_read
            return nothing
        # Estimates of many arms promise too much: only an exact threshold tells what it takes.
        candidates = race.survey.candidates
        if race.affords(candidates):
            if _promises_are_empty(race, candidates) and race.affords(race.undecided()):
                return race.undecided()
            race.evaluate(candidates[race.ledger.status[candidates] == ACTIVE])
    if race.threshold == -math.inf:
        return nothing
    # Before a replay at this threshold the wealth is out of date, and beaten arms are counted. But at one that is to rise
    # a replay tells less than what is expected.
    replay = not threshold_will_rise(race)
    if not finishing_pays(race, race.rules.replay_from if replay else 1.0):
        race.next_look = race.rules.ask_again_after * race.steps_read
        return nothing
    if replay:
        race.drop(race.undecided())
    left = race.undecided()
    return left if len(left) and finishing_pays(race) and race.affords(left) else nothing


def _promises_are_empty(race: Race, candidates: Ints) -> bool:
    """Return whether what seems best is chance, and arms are to be read to the end: where rows are expensive, some are evaluated to see.

    Without a gap the largest of many estimates are the largest errors, and scores of such arms are like those of others.
    """
    probes = race.rules.probes
    if race.costs.first_row == 0 or len(candidates) <= probes:
        return False
    if not finishing_pays(race, race.rules.probe_from):
        return False
    best = largest(race.ledger.estimates[candidates], probes)
    race.evaluate(np.sort(candidates[best]))
    return bool(race.known_scores().max() < race.ledger.likely_threshold(race.problem.k))


def finishing_pays(race: Race, margin: float = 1.0) -> bool:
    """Return whether to read the undecided arms to the end is so many times cheaper than to sample on."""
    threshold = race.threshold
    if _rough(race) or threshold == -math.inf:
        # The first arms that were evaluated are seldom the best ones: the threshold will rise.
        likely = race.ledger.likely_threshold(race.problem.k)
        threshold = max(threshold, likely, race.problem.expected_score)
    needed, unread = race.ledger.remaining_steps(
        race.problem.team, race.order.length, threshold + race.problem.epsilon, race.log_level
    )
    return policy.finishing_pays(
        race.rules,
        race.costs,
        needed,
        unread,
        float(race.order.length) * race.ledger.n_undecided,
        _all_blocks(race),
        race.ledger.bytes,
        margin,
        ahead=race.steps_ahead(),
    )


def _racing_seems_to_pay(race: Race) -> bool:
    """Return whether estimates agree so well that to race on is predicted to pay, before any threshold is known."""
    ledger, rules, costs = race.ledger, race.rules, race.costs
    length, front = race.order.length, race.front
    if race.first_estimates is None or len(race.problem.signs) == 2:
        return False
    start, first = race.first_estimates
    # Later the first steps are no sample of what is left, and bets that take much memory are another matter.
    if not start < front < length / 4 or 2 * ledger.bytes > costs.ledger_bytes:
        return False
    there = np.flatnonzero(ledger.steps == front)
    if 2 * len(there) < len(race.problem.arms):
        return False
    earlier, both = first[there], ledger.estimates[there]
    later = (front * both - start * earlier) / (front - start)
    needed = policy.steps_by_agreement(
        earlier,
        later,
        ledger.errors[there],
        front,
        race.log_level,
        race.reach(),
        race.problem.k,
    )
    return costs.step * needed <= rules.replay_from * costs.rest * length


def threshold_will_rise(race: Race) -> bool:
    """Return whether the exact threshold says little yet: a higher score is expected, and little was read."""
    return race.problem.expected_score > race.threshold and _rough(race)


def _rough(race: Race) -> bool:
    return policy.predictions_are_rough(
        race.rules, race.costs, race.front, race.steps_read, _all_blocks(race)
    )


def _all_blocks(race: Race) -> float:
    return float(race.order.length) * len(race.problem.arms)
