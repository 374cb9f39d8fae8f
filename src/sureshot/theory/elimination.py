"""The rounds of median elimination and of exponential-gap elimination, which need no data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sureshot.theory.radii import pulls_for


@dataclass(frozen=True, slots=True)
class FreshRound:
    """One round: make `pulls` fresh pulls of every arm, then keep the `keep` best."""

    arms: int
    pulls: float  # whole, or infinite
    keep: int
    epsilon: float  # by how much the best mean may fall in this round ...
    log_inverse_delta: float  # ... except with probability exp(-this)


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists that are read without replacement, and how much of them is still unread."""

    n_rewards: int
    unread: int

    def pulls_for(self, radius: float, width: float, log_level: float) -> float:
        """Return the fresh pulls after which the error of the mean of the whole list is at most `radius`.

        What was read before is exact, and the fresh pulls are a sample of the rest: the error of
        the mean is that of the fresh mean times the unread share (Theorem 3 of
        ``docs/theory.md``).
        """
        if self.unread == 0:
            return 0.0
        return pulls_for(radius * (self.n_rewards / self.unread), width, log_level, self.unread)


def median_elimination(
    n_arms: int, epsilon: float, log_inverse_delta: float, width: float, lists: Lists | None = None
) -> tuple[FreshRound, ...]:
    """Return the rounds of median elimination (Even-Dar, Mannor and Mansour, 2002).

    Round l has ``epsilon_l = (3/4)**(l-1) epsilon / 4`` and ``delta_l = delta / 2**l``, pulls each
    arm ``4 / epsilon_l**2 log(3 / delta_l)`` times and keeps the better half.

    That many pulls make one side of one arm's error exceed ``epsilon_l / 2`` with probability
    ``(delta_l / 3)**2``: the published logarithm is twice what Hoeffding's inequality asks for. The
    same level is kept without replacement.

    Parameters
    ----------
    n_arms
        Arms.
    epsilon, log_inverse_delta
        Allowed loss in the mean reward, and log(1 / delta).
    width
        Width of an interval that holds every reward.
    lists
        If the rewards are drawn without replacement.

    Examples
    --------
    >>> level = math.log(1 / 0.1)
    >>> [(r.arms, r.pulls) for r in median_elimination(10, 0.2, level, 1.0)]
    [(10, 6551.0), (5, 13618.0), (3, 27715.0), (2, 55502.0)]
    >>> lists = Lists(10_000, unread=10_000)
    >>> [(r.arms, r.pulls) for r in median_elimination(10, 0.2, level, 1.0, lists)]
    [(10, 3959.0), (5, 2728.0), (3, 1587.0), (2, 845.0)]
    """
    rounds: list[FreshRound] = []
    arms, epsilon_l, log_inverse_delta = n_arms, epsilon / 4, log_inverse_delta + math.log(2)
    while arms > 1:
        log_level = 2 * (math.log(3) + log_inverse_delta)
        if lists is None:
            pulls = pulls_for(epsilon_l / 2, width, log_level)
        else:
            pulls = lists.pulls_for(epsilon_l / 2, width, log_level)
            lists = Lists(lists.n_rewards, lists.unread - int(pulls))
        keep = (arms + 1) // 2
        rounds.append(FreshRound(arms, pulls, keep, epsilon_l, log_inverse_delta))
        arms, epsilon_l, log_inverse_delta = keep, 0.75 * epsilon_l, log_inverse_delta + math.log(2)
    return tuple(rounds)


@dataclass(frozen=True, slots=True)
class GapRound:
    """One round of exponential-gap elimination: pull every arm, then drop the arms that are far below the best."""

    pulls: float  # whole, or infinite
    epsilon: float
    log_inverse_delta: float


def exponential_gap(
    number: int, log_inverse_delta: float, width: float, lists: Lists | None = None
) -> GapRound:
    """Return round 1, 2, ... of exponential-gap elimination (Karnin, Koren and Somekh, 2013).

    ``epsilon_r = 2**-r / 4`` and ``delta_r = delta / (50 r**3)``, ``2 / epsilon_r**2 log(2 /
    delta_r)`` pulls of each arm: one side of its error exceeds ``epsilon_r / 2`` with probability at
    most ``delta_r / 2``.

    Examples
    --------
    >>> this = exponential_gap(1, math.log(1 / 0.05), 1.0)
    >>> this.pulls, this.epsilon, round(math.exp(-this.log_inverse_delta), 6)
    (973.0, 0.125, 0.001)
    """
    epsilon_r = width * 2.0**-number / 4
    log_inverse_delta += math.log(50 * number**3)
    wanted = (epsilon_r / 2, width, math.log(2) + log_inverse_delta)
    pulls = pulls_for(*wanted) if lists is None else lists.pulls_for(*wanted)
    return GapRound(pulls, epsilon_r, log_inverse_delta)
