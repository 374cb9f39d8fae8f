"""What every source answers: the sums of these arms over these blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints


class RewardSource(Protocol):
    """Rewards f(arm, coordinate) of `n_arms` arms, read in blocks of consecutive coordinates.

    Block b holds the coordinates from ``b * block`` up to, not including, ``(b + 1) * block``; the
    last one may be shorter. All sums are float64. A reward that is met and is not a number raises
    `BoundsError`.
    """

    n_arms: int
    n_coordinates: int
    block: int
    bytes_per_number: int

    def block_sums(self, arms: Ints, blocks: Ints) -> Floats:
        """Return the sum of each arm over each block, shape (len(arms), len(blocks))."""
        ...

    def totals(self, arms: Ints, blocks: Ints, low: Floats, high: Floats) -> Floats:
        """Return the sum of each arm over all the blocks together, shape (len(arms),).

        Every block sum met must lie between `low` and `high` (one entry per given block);
        otherwise `BoundsError`.
        """
        ...

    def exact_scores(self, arms: Ints) -> Floats:
        """Return the sum of all rewards of each arm, shape (len(arms),)."""
        ...
