"""How far the mean of some pulls can be from the mean of the list: the radii of the bandits.

Levels are given as logarithms, ``log(1 / probability)``: the probabilities are products of small shares
of delta and would underflow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, overload

import numpy as np

from sureshot.theory.concentration import pulls_needed, rho

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints

# Successive elimination: the paper asks for a constant above 4.
ELIMINATION_CONSTANT = 5.0
# LUCB1: 1.25 is above the sum of 1 / t**3, which the proof needs.
LUCB_CONSTANT = 1.25
# lil' UCB: the epsilon of its experiments, and the factor of its bound that follows from it.
LIL_EPSILON = 0.01
LIL_FACTOR = (2 + LIL_EPSILON) / LIL_EPSILON * math.log(1 + LIL_EPSILON) ** -(1 + LIL_EPSILON)


def deviation(pulls: int, width: float, log_level: float, n_rewards: int | None = None) -> float:
    """Return how far the mean of the pulls may exceed that of the list, at one fixed time.

    Hoeffding's inequality for pulls with replacement; the Hoeffding-Serfling inequality (Corollary
    2.5 of Bardenet and Maillard, 2015) without, where the length of the list is given.

    Examples
    --------
    >>> level = math.log(1 / 0.05)
    >>> round(deviation(100, 1.0, level), 4), round(deviation(100, 1.0, level, 1000), 4)
    (0.1224, 0.1162)
    >>> deviation(1000, 1.0, level, 1000)
    0.0
    """
    if n_rewards is None:
        return width * math.sqrt(log_level / (2 * pulls))
    if pulls >= n_rewards:
        return 0.0
    return width * math.sqrt(rho(pulls, n_rewards) * log_level / (2 * pulls))


def pulls_for(radius: float, width: float, log_level: float, n_rewards: int | None = None) -> float:
    """Return the smallest number of pulls at which `deviation` is at most this radius, or infinity.

    Examples
    --------
    >>> level = math.log(1 / 0.05)
    >>> pulls_for(0.1, 1.0, level), pulls_for(0.1, 1.0, level, 1000)
    (150.0, 131.0)
    >>> pulls_for(0.0, 1.0, level), pulls_for(0.0, 1.0, level, 1000)
    (inf, 1000.0)
    """
    try:
        u = (width / radius) ** 2 * log_level / 2
    except (ZeroDivisionError, OverflowError):
        u = math.inf
    if n_rewards is not None:
        return float(pulls_needed(u, n_rewards))
    return float(max(1, math.ceil(u))) if math.isfinite(u) else math.inf


def successive_elimination(pulls: int, n_arms: int, width: float, delta: float) -> float:
    """Return the radius of successive elimination (Even-Dar et al. 2006) after so many pulls.

    ``sqrt(log(c n t**2 / delta) / t)`` for rewards in [0, 1]. By Hoeffding's inequality one side of
    one arm fails at time t with probability ``(delta / (c n t**2))**2``, so all arms and times
    together fail with far less than delta.

    Examples
    --------
    >>> round(successive_elimination(1000, 10, 1.0, 0.05), 4)
    0.144
    """
    log_level = math.log(ELIMINATION_CONSTANT * n_arms * pulls**2) - math.log(delta)
    return width * math.sqrt(log_level / pulls)


@overload
def lucb(pulls: int, rounds: int, n_arms: int, width: float, delta: float) -> float: ...
@overload
def lucb(pulls: Ints, rounds: int, n_arms: int, width: float, delta: float) -> Floats: ...
def lucb(pulls: Ints | int, rounds: int, n_arms: int, width: float, delta: float) -> Floats | float:
    """Return the radius of LUCB1 (Kalyanakrishnan et al. 2012) in round t, after u <= t pulls.

    ``sqrt(log(k1 n t**4 / delta) / (2 u))``: one side of one arm fails for given t and u with
    probability ``delta / (k1 n t**4)``; added up over n arms, u <= t and all t it is
    ``delta / k1`` times the sum of ``1 / t**3``, which is below k1 = 1.25.

    Examples
    --------
    >>> round(float(lucb(1000, 1000, 10, 1.0, 0.05)), 4)
    0.1287
    """
    log_level = math.log(LUCB_CONSTANT * n_arms) + 4 * math.log(rounds) - math.log(delta)
    radius: Floats | float = width * np.sqrt(log_level / (2 * pulls))
    return radius


def lil_log_level(n_bounds: int, delta: float) -> float:
    """Return the ``log(1 / omega)`` at which `n_bounds` bounds of `lil` all hold with probability 1 - delta.

    Lemma 3 of Jamieson et al. (2014): one of them fails with probability at most
    ``c omega**(1 + epsilon)``, c being `LIL_FACTOR`, for omega below ``log(1 + epsilon) / e``.

    Examples
    --------
    >>> round(lil_log_level(10, 0.05), 2)
    15.26
    """
    return math.log(n_bounds * LIL_FACTOR) - math.log(delta)


def lil(pulls: int, width: float, log_level: float) -> float:
    """Return the radius of the law of the iterated logarithm, which holds at all times at once.

    Lemma 3 of Jamieson et al. (2014): ``(1 + sqrt(e)) sqrt(2 s**2 (1 + e) log(log((1 + e) t) /
    omega) / t)`` for rewards that are s-sub-Gaussian. Rewards in an interval of width R are so with
    s = R / 2 (Hoeffding's lemma).

    Examples
    --------
    >>> round(lil(1000, 1.0, lil_log_level(10, 0.05)), 4)
    0.1025
    """
    e = LIL_EPSILON
    log_term = math.log(math.log((1 + e) * pulls)) + log_level
    return (1 + math.sqrt(e)) * width / 2 * math.sqrt(2 * (1 + e) * log_term / pulls)


def at_look(
    look: int, pulls: int, width: float, n_bounds: int, delta: float, n_rewards: int
) -> float:
    """Return a radius without replacement that holds at every look 1, 2, ... and for all bounds.

    The union of the Hoeffding-Serfling inequality over `n_bounds` one-sided bounds and over the
    looks, each of which has the share ``1 / (look (look + 1))`` of delta; these shares add up to 1. The
    pulls at each look must not depend on the rewards.

    Examples
    --------
    >>> round(at_look(20, 1000, 1.0, 10, 0.05, 10_000), 4)
    0.0714
    """
    log_level = math.log(n_bounds * look * (look + 1)) - math.log(delta)
    return deviation(pulls, width, log_level, n_rewards)
