"""How a budget is spent on fewer and fewer arms: a schedule that needs no data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sureshot._types import Floats

# From round to round the number of arms to this power falls by the same amount.
SPACING = 0.25
# A round has pulls in proportion to another power of the price of its arms, for each halving of them until the
# next round: the share of all pulls that the budget is, and this, but no more than that. What it finds of scores
# that are independent and Gaussian, the hardest to find, `python -m measurements.theory.narrowing` simulates.
LEAST_POWER, MOST_POWER = 0.3, 0.7
# The price by which they are spread is that of pulls, and as much of that of another limit as it takes to spend all
# pulls within it: these powers of the two are tried.
BLENDS = (0.0, 0.5, 1.0)
# More rounds find hardly more; nor do more than these where all arms are kept as long as they cost no more than fewer.
MOST_ROUNDS = 24
WIDE_ROUNDS = 8


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
    """What all rounds may cost together."""

    most: float
    price: Callable[[Floats], Floats] = each_pull  # what a pull of each of so many arms costs
    round: float = 0.0  # what a round costs besides
    least: float = 0.0  # what is left for pulls, however much the rounds cost

    def left(self, rounds: int) -> float:
        """Return what pulls may cost in so many rounds."""
        return max(self.most - rounds * self.round, self.least)


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
        What may be spent, pulls first; nothing before the first round counts. If the last one would leave some of
        the pulls, these are spread more and more by its price, and more arms are kept where that costs no more.
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
    pulls, spent = _pulls(arms, n_rewards, k, limits, before)
    while not spent and rounds > WIDE_ROUNDS and not np.array_equal(_widest(arms, limits), arms):
        # Where arms are kept for long, fewer rounds find as much, and leave more for the pulls.
        rounds = max(WIDE_ROUNDS, rounds // 2)
        arms = _arms(n_arms, k, rounds)
        pulls, spent = _pulls(arms, n_rewards, k, limits, before)
    if not spent:
        arms = _widened(arms, pulls, limits)
    # Whole pulls, rounded down: fewer of them for fewer and fewer arms never add up to more. A pull that rounding
    # alone has taken is given back.
    whole = np.floor(pulls * (1 + 1e-12)).astype(np.int64)
    last = np.append(arms[1:] != arms[:-1], True) & (whole > 0)  # of the rounds of as many arms
    fresh = np.diff(whole[last], prepend=0) > 0
    return tuple(
        NarrowRound(int(count), pull)
        for count, pull in zip(arms[last][fresh].tolist(), whole[last][fresh].tolist(), strict=True)
    )


def _pulls(
    arms: Floats, n_rewards: float, k: int, limits: Sequence[Limit], before: float
) -> tuple[Floats, bool]:
    """Return how many pulls each arm of a round has had since the start, and whether the first limit was reached."""
    share = limits[0].most / (float(arms[0]) * n_rewards)
    power = min(LEAST_POWER + max(share, 0.0), MOST_POWER)
    halvings = np.log(arms / np.append(arms[1:], k))
    for price in _prices(arms, limits[-1].price(arms)):
        reached = np.cumsum(price ** (power - 1) * halvings)  # for a scale of 1
        first, *others = _scales(arms, reached, limits, before, n_rewards)
        scale = min([first, *others])
        if first <= scale:
            break
    return np.clip(scale * reached, before, n_rewards) - before, first <= scale


def _prices(arms: Floats, price: Floats) -> Iterator[Floats]:
    """Return by which prices of the arms to spread the pulls: that of pulls, and more and more that of the last limit."""
    arms, price = arms / arms[0], price / price[0]
    ratio = price / arms
    if ratio.max() <= ratio.min() * (1 + 1e-9):
        return iter([arms])
    return (arms ** (1 - blend) * price**blend for blend in BLENDS)


def _scales(
    arms: Floats, reached: Floats, limits: Sequence[Limit], before: float, n_rewards: float
) -> list[float]:
    """Return by how much each limit allows to multiply what the rounds reach."""
    # What a scale comes to is linear between those at which a round begins to read, or reads to the end.
    scales = np.unique(np.concatenate([[0.0], before / reached, n_rewards / reached]))
    pulls = np.clip(np.outer(scales, reached), before, n_rewards)
    fresh = np.diff(pulls, axis=1, prepend=before)
    return [
        float(np.interp(limit.left(len(arms)), (fresh * limit.price(arms)).sum(axis=1), scales))
        for limit in limits
    ]


def _widest(arms: Floats, limits: Sequence[Limit]) -> Floats:
    """Return up to how many arms cost no more than those of each round by the last limit."""
    price = limits[-1].price(arms)
    widest: Floats = arms[np.searchsorted(-price, -price)]
    return widest


def _widened(arms: Floats, pulls: Floats, limits: Sequence[Limit]) -> Floats:
    """Return more arms for each round where they cost no more by the last limit, as far as the first one allows."""
    more = _widest(arms, limits) / arms
    # What they cost is convex in this power, so that between two of them it is less than is interpolated.
    powers = np.linspace(0.0, 1.0, 33)
    cost = limits[0].price(arms * more ** powers[:, None]) @ np.diff(pulls, prepend=0.0)
    power = float(np.interp(limits[0].left(len(arms)), cost, powers))
    found: Floats = np.floor(arms * more**power * (1 + 1e-12))
    return found


def _arms(n_arms: int, k: int, rounds: int) -> Floats:
    """Return how many arms each round has."""
    roots = np.linspace(n_arms**SPACING, k**SPACING, rounds + 1)[:-1]
    arms = np.floor(roots ** (1 / SPACING) * (1 + 1e-12))
    arms[0] = n_arms
    found: Floats = np.unique(arms[arms > k])[::-1]
    return found
