"""Arms come back to a race if a guess that was far too high has suspended them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sureshot._native import ACTIVE, SUSPENDED
from sureshot.search.race import policy

if TYPE_CHECKING:
    from sureshot._types import Ints
    from sureshot.search.race.race import Race


def bring_back(race: Race, candidates: Ints) -> bool:
    """Let arms catch up that were suspended at too high a guess; return whether any are active again.

    First guesses are made from few steps. Where single rewards are far larger than most, they are so high that
    nearly all arms are suspended, and those that seem best of the others are not worth an evaluation.
    """
    ledger = race.ledger
    if race.threshold > -math.inf or race.allowance.limited or race.guess >= race.highest_guess:
        return False
    waiting = ledger.arms_with(SUSPENDED)
    waiting = waiting[ledger.steps[waiting] > 0]
    if not policy.looking_again_pays(race.costs, len(waiting), len(candidates), race.order.length):
        return False
    # As high as the threshold may well be: what is beaten at that is likely to be dropped unread.
    margins = race.rules.caution * ledger.errors[candidates]
    race.highest_guess = float((ledger.estimates[candidates] + margins).min())
    active = ledger.n_active
    ledger.status[waiting] = ACTIVE
    race.judge(waiting, race.highest_guess, SUSPENDED)
    race.catch_up(waiting[ledger.status[waiting] == ACTIVE], race.highest_guess)
    return ledger.n_active > active
