"""How a budget is spent on fewer and fewer arms: a schedule that needs no data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sureshot._types import Floats

# From round to round the number of arms to this power falls by the same amount.
SPACING = 0.25
# A round has pulls in proportion to another power of the price of its arms, for each halving of them until the
# next round: the share of all pulls that the budget is, and this, but no more than that. What it finds of scores
# that are independent and Gaussian, the hardest to find, `python -m measurements.theory.narrowing` simulates.
LEAST_POWER, MOST_POWER = 0.3, 0.7
# More rounds find hardly more.
MOST_ROUNDS = 24


@dataclass(frozen=True, slots=True)
class NarrowRound:
    """One round: keep the `arms` best, then bring each of them to `pulls` more pulls than at the start."""

    arms: int
    pulls: int


def each_pull(arms: Floats) -> Floats:
    """Return what a pull of each of so many arms costs if all pulls cost the same."""
    return arms


@dataclass(frozen=True, slots=True)
class Limit:
    """What all rounds may cost together, and what a pull of each of so many arms costs."""

    most: float
    price: Callable[[Floats], Floats] = each_pull


def narrowing(
    n_arms: int,
    n_rewards: float,
    k: int,
    limits: Sequence[Limit],
    *,
    rounds: int = MOST_ROUNDS,
    before: float = 0.0,
) -> tuple[NarrowRound, ...]:
    """Return rounds that find the k best arms within some limits by keeping the better ones.

    The first has all arms, unless they have had its pulls before; what is left after the last one are more than k
    arms, of which the k best are the answer.

    Parameters
    ----------
    n_arms, n_rewards, k
        Arms, rewards of each, arms wanted.
    limits
        What may be spent, pulls first; nothing before the first round counts. By the price of the last one the
        pulls are spread over the rounds.
    rounds
        How many there may be.
    before
        Pulls that every arm has had.

    Examples
    --------
    >>> for this in narrowing(1000, 500, 5, [Limit(50_000)], rounds=8)[:3]:
    ...     print(this.arms, this.pulls)
    1000 7
    680 19
    444 35
    """
    if n_arms <= k or n_rewards <= before or rounds < 1:
        return ()
    arms = _arms(n_arms, k, rounds)
    halvings = np.log(arms / np.append(arms[1:], k))
    price = limits[-1].price(arms)
    share = limits[0].most / (float(n_arms) * n_rewards)
    power = min(LEAST_POWER + max(share, 0.0), MOST_POWER)
    # Pulls of an arm, for a scale of 1.
    reached = np.cumsum((price / price[0]) ** (power - 1) * halvings)
    # What a scale comes to is linear between those at which a round begins to read, or reads to the end.
    scales = np.unique(np.concatenate([[0.0], before / reached, n_rewards / reached]))
    pulls = np.clip(np.outer(scales, reached), before, n_rewards) - before
    fresh = np.diff(pulls, axis=1, prepend=0.0)
    scale = min(
        float(np.interp(limit.most, (fresh * limit.price(arms)).sum(axis=1), scales))
        for limit in limits
    )
    # Whole pulls, rounded down: fewer of them for fewer and fewer arms never add up to more.
    found: list[NarrowRound] = []
    last = 0
    for count, wanted in zip(arms.tolist(), scale * reached, strict=True):
        # A pull that rounding alone has taken is given back.
        whole = math.floor((min(wanted, n_rewards) - before) * (1 + 1e-12))
        if whole > last:
            found.append(NarrowRound(int(count), whole))
            last = whole
    return tuple(found)


def _arms(n_arms: int, k: int, rounds: int) -> Floats:
    """Return how many arms each round has."""
    roots = np.linspace(n_arms**SPACING, k**SPACING, rounds + 1)[:-1]
    arms = np.floor(roots ** (1 / SPACING) * (1 + 1e-12))
    arms[0] = n_arms
    found: Floats = np.unique(arms[arms > k])[::-1]
    return found
