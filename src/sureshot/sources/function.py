"""Rewards given by a function of arms and coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot._summation import add_exactly
from sureshot.blocks import Blocks
from sureshot.sources.base import Totals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sureshot._native import Ledger, Met, Order, Team
    from sureshot._types import Floats, Ints
    from sureshot.sources.rewards import Rewards

# Rewards asked for in one call of the function: enough to be worth the call, a few MB at most.
REWARDS_PER_CALL = 1 << 18


class FunctionSource:
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

    def __init__(self, rewards: Rewards, n_arms: int, n_rewards: int) -> None:
        self.rewards = rewards
        self.n_arms = n_arms
        self.n_coordinates = n_rewards
        self.blocks = Blocks(n_rewards)

    def block_sums(self, arms: Ints, blocks: Ints, squares: Floats | None = None) -> Floats:
        """Return the reward of each arm at each coordinate, shape (len(blocks), len(arms))."""
        if squares is not None:
            raise TypeError("a function has rewards but no data values to square")
        return self.rewards.table(arms, blocks).T

    def advance(
        self,
        ledger: Ledger,
        order: Order,
        team: Team,
        arms: Ints,
        positions: Ints,
        start: int,
        stop: int,
    ) -> Met:
        """Pull the drawn coordinates [start, stop) of the arms at some positions into the ledger.

        All of them before the first bet, so that no bet depends on which reward came first.
        """
        sums = self.block_sums(arms[positions], order.blocks[start:stop])
        return ledger.add(team, np.ascontiguousarray(sums), positions, start, stop)

    def finish(
        self, arms: Ints, positions: Ints, ledger: Ledger, order: Order
    ) -> tuple[Floats, int]:
        """Return the sums of the arms over all coordinates that can be drawn.

        Only what has not been pulled before is pulled.
        """
        sums, numbers = np.empty(len(arms)), 0
        steps = ledger.steps[positions]
        for front in np.unique(steps):
            group = np.flatnonzero(steps == front)
            rest = order.undrawn(int(front))
            ones = np.ones(len(rest))
            found = self.totals(arms[group], rest, ones, ones)
            high, lost = add_exactly(found.high, ledger.high[positions[group]])
            sums[group] = high + (lost + found.low + ledger.low[positions[group]])
            numbers += len(group) * len(rest)
        return sums, numbers

    def totals(
        self, arms: Ints, blocks: Ints, centre: Floats, weight: Floats, *, squares: bool = False
    ) -> Totals:
        """Return the sums of each arm over all the coordinates together."""
        if squares:
            raise TypeError("a function has rewards but no data values to square")
        high, low, largest = np.zeros((3, len(arms)))
        for some in _portions(len(blocks), len(arms)):
            rewards = self.block_sums(arms, blocks[some])
            distance = np.abs(rewards - centre[some, None]) / weight[some, None]
            largest = np.maximum(largest, distance.max(axis=0))
            for reward in rewards:
                high, lost = add_exactly(high, reward)
                low += lost
        return Totals(high, low, largest, None)

    def exact_scores(
        self,
        arms: Ints,
        sources: Sequence[FunctionSource] = (),
        team: Team | None = None,  # noqa: ARG002 - pulls are not ours to spread
        norms: Floats | None = None,  # noqa: ARG002 - rewards have none
    ) -> Floats:
        """Return the sum of all rewards of each arm, for each of the sources if some are given."""
        if sources:
            return np.stack([source.exact_scores(arms) for source in sources])
        everything = np.arange(self.n_coordinates)
        ones = np.ones(self.n_coordinates)
        found = self.totals(arms, everything, ones, ones)
        return found.high + found.low


def _portions(n_blocks: int, n_arms: int) -> Iterator[slice]:
    size = max(1, REWARDS_PER_CALL // max(1, n_arms))
    for start in range(0, n_blocks, size):
        yield slice(start, min(start + size, n_blocks))
