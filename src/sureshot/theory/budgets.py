"""How the bandits with a fixed budget spend it: schedules that need no data."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HalvingRound:
    """One round of successive halving: pull each arm `pulls` times, then keep the `keep` best."""

    arms: int
    pulls: int
    keep: int


def successive_halving(n_arms: int, budget: int) -> tuple[HalvingRound, ...]:
    """Return the rounds of successive halving (Karnin, Koren and Somekh, 2013).

    There are ``ceil(log2 n)`` rounds, and each has an equal part of the budget.

    Examples
    --------
    >>> successive_halving(5, 100)[:2]
    (HalvingRound(arms=5, pulls=6, keep=3), HalvingRound(arms=3, pulls=11, keep=2))
    """
    how_many = (n_arms - 1).bit_length()
    rounds: list[HalvingRound] = []
    arms = n_arms
    for _ in range(how_many):
        rounds.append(HalvingRound(arms, budget // (arms * how_many), (arms + 1) // 2))
        arms = rounds[-1].keep
    return tuple(rounds)


def successive_rejects(n_arms: int, budget: int) -> tuple[int, ...]:
    """Return the pulls of each remaining arm at the end of each of n - 1 phases.

    Successive rejects (Audibert, Bubeck and Munos, 2010), and the same in its version for several
    arms, SAR (Bubeck, Wang and Viswanathan, 2013): ``ceil((budget - n) / (logbar(n) (n + 1 - p)))``
    in phase p, with ``logbar(n) = 1/2 + 1/2 + 1/3 + ... + 1/n``.

    Examples
    --------
    >>> successive_rejects(5, 100)
    (11, 14, 18, 27)
    """
    logbar = 0.5 + math.fsum(1 / i for i in range(2, n_arms + 1))
    return tuple(
        math.ceil((budget - n_arms) / (logbar * (n_arms + 1 - phase))) for phase in range(1, n_arms)
    )


def fewest_pulls_of_halving(n_arms: int) -> int:
    """Return the smallest budget with which successive halving pulls every arm in each round.

    Examples
    --------
    >>> fewest_pulls_of_halving(5)
    15
    """
    return max(1, n_arms * (n_arms - 1).bit_length())


def fewest_pulls_of_rejects(n_arms: int) -> int:
    """Return the smallest budget with which successive rejects pulls every arm in its first phase.

    Examples
    --------
    >>> fewest_pulls_of_rejects(5)
    6
    """
    return 1 if n_arms == 1 else n_arms + 1
