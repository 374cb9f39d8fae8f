"""How far the mean of pulls without replacement can be from the mean of the whole list.

Corollary 2.5 of Bardenet and Maillard (2015), Hoeffding-Serfling: of a list of N numbers in an
interval of width R, the mean of m pulls exceeds the mean of the list by more than
``R sqrt(rho_m log(1/delta) / (2 m))`` with probability at most delta.
"""

from __future__ import annotations

import math


def rho(m: int, n_rewards: int) -> float:
    """Return the factor by which pulling without replacement shrinks the variance proxy."""
    left = n_rewards - m
    return min((left + 1) / n_rewards, (left / n_rewards) * (1 + 1 / m))


def radius(m: int, n_rewards: int, width: float, delta: float) -> float:
    """Return how far the mean of m pulls may exceed the list's mean, except with probability delta.

    Examples
    --------
    >>> round(radius(100, 1000, width=1.0, delta=0.05), 4)
    0.1162
    >>> radius(1000, 1000, width=1.0, delta=0.05)
    0.0
    """
    if m >= n_rewards:
        return 0.0
    return width * math.sqrt(rho(m, n_rewards) * math.log(1 / delta) / (2 * m))


def pulls_formula(u: float, n_rewards: int) -> float:
    """Return m(u) of the paper, as a real number: enough pulls for ``m / rho_m >= u``."""
    if math.isinf(u):
        return float(n_rewards)
    shrink = 1 + u / n_rewards
    return min((u + 1) / shrink, (u + u / n_rewards) / shrink)


def pulls_needed(u: float, n_rewards: int) -> int:
    """Return m(u) as a number of pulls: rounded up, at least 1, at most the whole list.

    ``u = R**2 log(1/delta) / (2 epsilon**2)`` asks for an error of at most epsilon except with
    probability delta.

    Examples
    --------
    >>> pulls_needed(100.0, 1000)
    91
    >>> pulls_needed(float("inf"), 1000)
    1000
    """
    m = max(1, math.ceil(pulls_formula(u, n_rewards)))
    # The formula is exact in real numbers; in floating point it can end just below an integer.
    while m < n_rewards and m < u * rho(m, n_rewards):
        m += 1
    return min(m, n_rewards)
