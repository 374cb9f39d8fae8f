"""The limit of the rewards where none is given: a ladder, climbed when a larger reward is met.

The rungs are fixed before the first bet. Each has its own wealth, which is replayed over the whole
past with that limit, and its own share of delta, so that climbing loses nothing that was won; the
proof is in ``docs/theory.md``.
"""

from __future__ import annotations

import math

# The lowest rung is the largest |y| of the first round times SAFETY, each further one STEP times the
# one below. The lowest has FIRST_SHARE of delta, each further one half of what is left.
SAFETY = 2.0
STEP = 1.5
FIRST_SHARE = 0.8


def share_of_delta(rung: int) -> float:
    """Return the share of delta of one rung; all of them add up to 1."""
    return FIRST_SHARE if rung == 0 else (1 - FIRST_SHARE) / 2.0**rung


class Ladder:
    """Where a search stands on its ladder. The limit is 0 until a first reward is met."""

    def __init__(self) -> None:
        self.limit = 0.0
        self.rung = 0

    def climb(self, largest: float) -> bool:
        """Climb until `largest` is within the limit; return whether the limit changed."""
        if largest <= self.limit:
            return False
        if self.limit == 0:
            self.limit = SAFETY * largest
        while self.limit < largest:
            self.limit *= STEP
            self.rung += 1
        return True

    @property
    def log_share(self) -> float:
        """The logarithm of the current rung's share of delta."""
        return math.log(share_of_delta(self.rung))
