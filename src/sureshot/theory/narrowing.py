"""How a budget is spent on fewer and fewer arms: a schedule that needs no data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats

# Each round keeps this share of the arms, and has pulls in proportion to this power of their number. Of
# scores that are independent and Gaussian, the hardest to find, this finds the most at budgets between a
# tenth and a half of all pulls; both may be off by a tenth at hardly a loss. To keep half of the arms in
# every round, each with an equal part of the budget, finds about half as many.
KEPT = 0.8
POWER = 0.7


@dataclass(frozen=True, slots=True)
class NarrowRound:
    """One round: keep the `arms` best, then bring each of them to `pulls` pulls."""

    arms: int
    pulls: int


def narrowing(
    n_arms: int,
    n_rewards: int,
    k: int,
    budget: float,
    *,
    all_first: bool = False,
) -> tuple[NarrowRound, ...]:
    """Return rounds that spend a budget on the k best arms by keeping the better ones.

    They end when k arms are left, or when those that are left are pulled to the end of their lists.

    Parameters
    ----------
    n_arms, n_rewards, k
        Arms, rewards of each that are still unread, arms wanted.
    budget
        Pulls that all arms may have together.
    all_first
        Whether the first round pulls all arms, because little is known of them.

    Examples
    --------
    >>> for this in narrowing(1000, 500, k=5, budget=50_000)[:3]:
    ...     print(this.arms, this.pulls)
    800 9
    640 19
    512 30
    """
    if n_arms <= k or n_rewards <= 0 or budget <= 0:
        return ()
    arms = _arms(n_arms, k)
    if all_first:
        arms = np.append(float(n_arms), arms)
    reached = np.cumsum(arms ** (POWER - 1))  # pulls of an arm, for a scale of 1
    # What a scale comes to is linear between those at which one more round reaches the end of the lists.
    scales = np.append(0.0, n_rewards / reached[::-1])
    pulls = np.minimum(np.outer(scales, reached), n_rewards)
    fresh = np.diff(pulls, axis=1, prepend=0.0) * arms
    scale = float(np.interp(budget, fresh.sum(axis=1), scales))
    # Whole pulls, rounded down: fewer of them for fewer and fewer arms never add up to more.
    rounds: list[NarrowRound] = []
    last = 0
    for count, wanted in zip(arms.tolist(), scale * reached, strict=True):
        # A pull that rounding alone has taken is given back.
        whole = min(math.floor(wanted * (1 + 1e-12)), n_rewards)
        if whole > last:
            rounds.append(NarrowRound(int(count), whole))
            last = whole
    return tuple(rounds)


def _arms(n_arms: int, k: int) -> Floats:
    """Return how many arms each round keeps."""
    arms = [n_arms]
    while arms[-1] > k:
        arms.append(max(k, math.floor(KEPT * arms[-1])))
    return np.array(arms[1:], dtype=np.float64)
