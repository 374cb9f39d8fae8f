"""What is left of a race: whether to sample it is predicted to cost more than to read it to the end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sureshot.search.race import policy

if TYPE_CHECKING:
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


def threshold_will_rise(race: Race) -> bool:
    """Return whether the exact threshold says little yet: a higher score is expected, and little was read."""
    return race.problem.expected_score > race.threshold and _rough(race)


def _rough(race: Race) -> bool:
    return policy.predictions_are_rough(
        race.rules, race.costs, race.front, race.steps_read, _all_blocks(race)
    )


def _all_blocks(race: Race) -> float:
    return float(race.order.length) * len(race.problem.arms)
