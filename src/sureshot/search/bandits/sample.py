"""Fresh pulls of some arms, by which a round of elimination ranks them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sureshot.theory import radii

if TYPE_CHECKING:
    from sureshot._types import Ints
    from sureshot.search.bandits.pulls import Pulls


class Sample:
    """Fresh pulls of some arms: what they say of the means, and how well.

    Parameters
    ----------
    pulls
        Whose they are.
    positions
        The arms.
    count
        Pulls of each arm; 0 if nothing could be afforded.
    portions
        In how many portions they came; they may have ended after any.
    unread
        Without replacement: rewards of each list that were unread before.
    """

    def __init__(
        self, pulls: Pulls, positions: Ints, count: int, portions: int, unread: int
    ) -> None:
        self.means = pulls.means[positions]
        self.known = bool(pulls.known[positions].all())
        self.count = count
        self._portions = portions
        self._bounds = len(positions) * pulls.sides
        self._width = pulls.width
        self._unread = None if pulls.replacement else unread
        self._part = 1.0 if pulls.replacement else unread / pulls.n_rewards

    def enough(self, wanted: float) -> bool:
        """Return whether there are as many pulls as wanted, or as many as there can be."""
        return self.known or self.count >= wanted

    def radius(self, log_inverse_delta: float) -> float:
        """Return how well each mean is known, all of them on the side that matters, but for delta.

        The sample may have ended after any portion for want of time, so that delta is spread over
        the portions 1, 2, ... in parts of 1 / (portion (portion + 1)).
        """
        if self.known:
            return 0.0
        if self.count == 0:
            return math.inf
        log_level = math.log(self._bounds * self._portions * (self._portions + 1))
        log_level += log_inverse_delta
        return self._part * radii.deviation(self.count, self._width, log_level, self._unread)
