"""The schedule of BoundedME, Algorithm 1 of the paper: a pure function of the problem's size."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sureshot.theory.concentration import pulls_needed


@dataclass(frozen=True, slots=True)
class Round:
    """One round: bring every arm to `pulls` pulls, then keep the `keep` best."""

    arms: int
    pulls: int
    keep: int
    epsilon: float
    delta: float


def sample_size(
    n_arms: int, k: int, epsilon: float, delta: float, width: float, ways: int = 2
) -> float:
    """Return the argument u of m(u) for one round with `n_arms` arms left.

    Half of epsilon is for the arm that should stay and half for the arm that should go; a Markov
    bound over the n_arms - k arms that may go gives the logarithm (the paper's one-round lemma).
    `ways` is the number of ways in which a pair of them can be ranked wrongly: 2, or 3 for absolute
    values.
    """
    if epsilon == 0:
        return math.inf
    others = n_arms - k
    log_term = math.log(ways * others / (others // 2 + 1)) - math.log(max(delta, math.ulp(0.0)))
    # The square of the ratio, not the ratio of squares: a tiny epsilon must not underflow to 0.
    try:
        return 2 * log_term * (width / epsilon) ** 2
    except OverflowError:
        return math.inf


def bounded_me(
    n_arms: int,
    n_rewards: int,
    k: int,
    epsilon: float,
    delta: float,
    width: float,
    ways: int = 2,
) -> tuple[Round, ...]:
    """Return the rounds of BoundedME for the k best means of lists of `n_rewards` rewards.

    Parameters
    ----------
    n_arms, n_rewards, k
        Arms, rewards per arm, arms wanted.
    epsilon, delta
        Allowed loss in the mean reward and allowed probability of missing it.
    width
        Width of an interval that holds every reward: the R of the bound.
    ways
        The number of ways in which a pair of arms can be ranked wrongly.

    Examples
    --------
    >>> for r in bounded_me(100, 10_000, k=10, epsilon=0.2, delta=0.1, width=1.0)[:2]:
    ...     print(r.arms, r.pulls, r.keep)
    100 2587 55
    55 4182 32
    """
    rounds: list[Round] = []
    arms, pulls = n_arms, 0
    epsilon_l, delta_l = epsilon / 4, delta / 2
    while arms > k:
        u = sample_size(arms, k, epsilon_l, delta_l, width, ways)
        pulls = max(pulls, pulls_needed(u, n_rewards))
        keep = arms - math.ceil((arms - k) / 2)
        rounds.append(Round(arms, pulls, keep, epsilon_l, delta_l))
        arms, epsilon_l, delta_l = keep, 0.75 * epsilon_l, delta_l / 2
    return tuple(rounds)
