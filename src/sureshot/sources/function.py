"""Rewards given by a function of arms and coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sureshot.blocks import Blocks
from sureshot.sources.base import Source
from sureshot.sources.costs import PAID_PULLS

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.sources.rewards import Rewards


class FunctionSource(Source):
    """Rewards that a function returns.

    Parameters
    ----------
    rewards
        Calls the function.
    n_arms, n_rewards
        Arms and rewards per arm.
    """

    bytes_per_number = 8
    coordinate_major = True
    costs = PAID_PULLS

    def __init__(self, rewards: Rewards, n_arms: int, n_rewards: int) -> None:
        self.rewards = rewards
        self.n_arms = n_arms
        self.n_coordinates = n_rewards
        self.blocks = Blocks(n_rewards)

    def block_sums(self, arms: Ints, blocks: Ints) -> Floats:
        """Return the reward of each arm at each coordinate, shape (len(blocks), len(arms))."""
        return self.rewards.table(arms, blocks).T
