"""Rewards given by a function of arms and coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.errors import BoundsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sureshot._types import Array, Floats, Ints

# Rewards asked for in one call of the function: enough to be worth the call, a few MB at most.
REWARDS_PER_CALL = 1 << 18


class FunctionSource:
    """Rewards that `pull` returns.

    Parameters
    ----------
    pull
        Called as ``pull(arms, coordinates)`` with two int64 arrays; returns the rewards as an
        array of shape (len(arms), len(coordinates)).
    n_arms, n_rewards
        Arms and rewards per arm.
    low, high
        Limits of every reward; a reward outside is refused.
    """

    block = 1
    bytes_per_number = 8

    def __init__(
        self,
        pull: Callable[[Ints, Ints], Array],
        n_arms: int,
        n_rewards: int,
        low: float,
        high: float,
    ) -> None:
        self.pull = pull
        self.n_arms = n_arms
        self.n_coordinates = n_rewards
        self.low = low
        self.high = high

    def block_sums(self, arms: Ints, blocks: Ints) -> Floats:
        """Return the reward of each arm at each coordinate, shape (len(arms), len(blocks))."""
        rewards = np.asarray(self.pull(arms, blocks))
        expected = (len(arms), len(blocks))
        if rewards.shape != expected:
            message = (
                f"pull must return an array of shape {expected} (arms, coordinates), "
                f"got shape {rewards.shape}"
            )
            raise ValueError(message)
        if rewards.dtype.kind not in "fiub":
            raise TypeError(f"pull must return real numbers, got an array of {rewards.dtype}")
        rewards = rewards.astype(np.float64, copy=False)
        inside = (rewards >= self.low) & (rewards <= self.high)
        if not inside.all():
            arm, coordinate = np.argwhere(~inside)[0]
            message = (
                f"arm {arms[arm]} has reward {rewards[arm, coordinate]:.6g} at coordinate "
                f"{blocks[coordinate]}, outside bounds=({self.low:.6g}, {self.high:.6g})"
            )
            raise BoundsError(message)
        return rewards

    def totals(self, arms: Ints, blocks: Ints, low: Floats, high: Floats) -> Floats:  # noqa: ARG002
        """Return the sum of each arm over all the coordinates; block_sums checks the limits."""
        totals = np.zeros(len(arms))
        for some in _portions(blocks, len(arms)):
            totals += self.block_sums(arms, some).sum(axis=1)
        return totals

    def exact_scores(self, arms: Ints) -> Floats:
        """Return the sum of all rewards of each arm."""
        everything = np.arange(self.n_coordinates)
        nothing = np.empty(0)
        return self.totals(arms, everything, nothing, nothing)


def _portions(blocks: Ints, n_arms: int) -> Iterator[Ints]:
    size = max(1, REWARDS_PER_CALL // max(1, n_arms))
    for start in range(0, len(blocks), size):
        yield blocks[start : start + size]
