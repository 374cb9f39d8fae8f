"""Betting against an arm: wealth that grows when its rewards are too small for a threshold.

The theorem and its proof are in ``docs/theory.md``. In short: blocks are drawn without replacement
with probability proportional to their weight, so that before step s the normalised reward y of an
arm with score T has conditional mean ``(T - known) / left``, where `known` is what has been drawn
plus the centres of what has not, and `left` is the weight not yet drawn. A bet whose stake was
chosen from the past multiplies the wealth by a factor with conditional mean at most 1 if the score
is T, and the factor never decreases in the threshold that is tested.

All arrays are (steps, arms): one row per drawn block, one column per arm.

Glossary: y normalised reward, theta tested threshold, mu conditional mean of y if the score is
theta, stake lambda, cap the largest possible payoff, C the largest share of wealth at risk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats

# The largest share of its wealth that a bet may lose: a factor is never below 1 - C.
C = 0.99

# This share of the mean square is added to the sum of squares from which a variance is estimated.
SOFTENING = 1e-6

# Stakes start at this step: earlier means and variances would come from too few rewards.
FIRST_STAKE = 4

# An interval is halved so often where wealth is inverted: more would not change a double.
HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Bets:
    """One bet per step and arm; nothing in it depends on the threshold that is tested.

    The factor at theta is ``1 + min(stake, C / (cap - mean)) (mean - payoff)`` with
    ``mean = theta / left - offset``.
    """

    stake: Floats  # (steps, arms), chosen from the steps before
    payoff: Floats  # (steps, arms)
    cap: Floats  # (steps, arms) or (1, arms): payoff <= cap
    offset: Floats  # (steps, arms): known / left, and what a control shifts
    left: Floats  # (steps, 1)


def before(values: Floats) -> Floats:
    """Return the sums of all earlier rows: exclusive, so that nothing looks ahead."""
    sums = np.zeros_like(values)
    np.cumsum(values[:-1], axis=0, out=sums[1:])
    return sums


def averages(values: Floats) -> Floats:
    """Return the means of all earlier rows."""
    return before(values) / np.maximum(np.arange(len(values)), 1)[:, None]


def covariances(x: Floats, y: Floats) -> Floats:
    """Return the unbiased covariances of all earlier rows."""
    count = np.arange(len(x), dtype=np.float64)[:, None]
    scatter: Floats = (averages(x * y) - averages(x) * averages(y)) * count
    return scatter / np.maximum(count - 1, 1)


def variances(y: Floats) -> Floats:
    """Return the variances of all earlier rows, which are not zero: constant so far may not stay so."""
    rest = np.maximum(np.arange(len(y)) - 1, 1)[:, None]
    softening = SOFTENING * averages(y * y) / rest
    return np.maximum(covariances(y, y), 0) + softening + np.finfo(np.float64).tiny


def distances(y: Floats, known: Floats, left: Floats, guess: Floats) -> Floats:
    """Return how far the mean of the rewards before each step is below what its guess requires.

    Parameters
    ----------
    y, known
        Normalised rewards, and what was known of each arm before each step.
    left
        Weight not yet drawn before each step, (steps, 1).
    guess
        Guess of the final threshold for each step, (steps, 1) or (steps, arms); minus infinity
        where no guess was made.
    """
    return np.maximum((guess - known) / left - averages(y), 0)


def stakes(distance: Floats, variance: Floats, floor: float = 0.0) -> Floats:
    """Return the stake of each step.

    The growth of wealth is largest, to second order, at ``d / (v + d**2)``, d the distance of the
    arm's mean from what the guessed threshold needs, v its variance.

    Parameters
    ----------
    distance, variance
        Of the rewards before each step.
    floor
        Stakes are at least this over the standard deviation, even against arms with large estimates:
        where a search may end early, every arm needs an upper limit.
    """
    stake: Floats = distance / (variance + distance**2)
    if floor > 0:
        stake = np.maximum(stake, floor / np.sqrt(variance))
    stake[:FIRST_STAKE] = 0
    return stake


def range_bets(
    y: Floats, known: Floats, left: Floats, guess: Floats, limit: Floats, floor: float = 0.0
) -> Bets:
    """Return bets on rewards with a known upper limit, ``y <= limit``, one per arm."""
    return Bets(
        stake=stakes(distances(y, known, left, guess), variances(y), floor),
        payoff=y,
        cap=limit[None, :],
        offset=known / left,
        left=left,
    )


def norm_bets(
    y: Floats,
    known: Floats,
    left: Floats,
    guess: Floats,
    squares: Floats,
    weight: Floats,
    square_limit: Floats,
    floor: float = 0.0,
) -> Bets:
    """Return bets on inner products with rows of bounded norm; no limit of the values is needed.

    With block weights ``|q_b|**2`` a block of the row v has ``y**2 <= u = |v_b|**2 / |q_b|**2``,
    and the mean of the u not yet drawn is at most m, what the norm leaves over `left`. So
    ``y - (u - m) / (2 rho)`` has at least the mean of y, and is at most
    ``rho / 2 + m / (2 rho)``, for any rho chosen from the past.

    Parameters
    ----------
    squares
        ``|v_b|**2`` of each step and arm.
    weight
        ``|q_b|**2`` of each step, (steps, 1).
    square_limit
        Upper bound of ``|v|**2``, one per arm.
    """
    u = squares / weight
    unseen = np.maximum(square_limit[None, :] - before(squares), 0) / left
    drift = unseen - averages(u)
    variance, spread = variances(y), np.maximum(covariances(u, u), 0)
    distance = np.maximum(distances(y, known, left, guess), floor * np.sqrt(variance))
    # Where there is nothing to bet on these are no numbers.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rho = chosen_rho((guess - known) / left, distance, variance, unseen, drift, spread)
        gain = np.maximum(distance - drift / (2 * rho), 0)
        risk = np.maximum(variance - covariances(u, y) / rho + spread / (4 * rho**2), 0)
        stake = np.fmax(stakes(distance, variance, floor), stakes(gain, risk))
    bet = (distance > 0) & (stake > 0) & np.isfinite(rho) & (rho > 0)
    rho = np.where(bet, rho, 1.0)
    return Bets(
        stake=np.where(bet, stake, 0.0),
        payoff=y - (u - unseen) / (2 * rho),
        # Without a bet the cap still allows a certain drop: Cauchy-Schwarz.
        cap=np.where(bet, rho / 2 + unseen / (2 * rho), np.sqrt(unseen)),
        offset=known / left,
        left=left,
    )


def chosen_rho(
    needed: Floats,
    distance: Floats,
    variance: Floats,
    unseen: Floats,
    drift: Floats,
    spread: Floats,
) -> Floats:
    """Return rho of norm bets: any is valid, this one is predicted to make wealth grow fast.

    "The choice of rho" in ``docs/theory.md`` derives it.

    Parameters
    ----------
    needed, distance, variance
        The mean of y that the guess needs, how far the mean so far is below it, and the variance of y.
    unseen, drift, spread
        m, how far the mean of u so far is below it, and the variance of u.
    """
    square = variance + distance**2
    middle = (drift + C * square) / (2 * distance)
    clipped = middle + np.sqrt(np.maximum(middle * (middle - 2 * needed) + unseen, 0))
    quiet = np.sqrt(spread / square) / 2
    return np.asarray(np.fmax(np.fmax(clipped, np.sqrt(unseen)), quiet))


def log_wealth(bets: Bets, theta: Floats) -> Floats:
    """Return the logarithm of the wealth after each step if the score were theta, (steps, arms).

    Infinite from the step on at which the score is known to be below theta.
    """
    mean = theta / bets.left - bets.offset
    room = bets.cap - mean
    certain = room <= 0
    size = np.minimum(bets.stake, C / np.where(certain, 1.0, room))
    growth = np.log1p(size * np.where(certain, 0.0, mean - bets.payoff))
    growth[certain] = np.inf
    total: Floats = np.cumsum(growth, axis=0)
    return total


def peak_log_wealth(bets: Bets, theta: Floats) -> Floats:
    """Return the largest logarithm of wealth that each arm ever reached, at least 0.

    By Ville's inequality the peak, not only the last value, reaches 1/level with probability at
    most the level if the score is theta or more.
    """
    if len(bets.left) == 0:
        return np.zeros(bets.offset.shape[1])
    peak: Floats = log_wealth(bets, theta).max(axis=0)
    return np.maximum(peak, 0.0)


def upper_limits(bets: Bets, log_level: float, low: Floats, high: Floats) -> Floats:
    """Return a number for each arm that its score exceeds with probability at most the level.

    Inverts the wealth: the smallest theta between `low` and `high` at which the peak reaches the
    level, from above. `high` must be certain.
    """
    low, high = np.minimum(low, high), high.copy()
    for _ in range(HALVINGS):
        middle = low + (high - low) / 2
        reached = peak_log_wealth(bets, middle) >= log_level
        high = np.where(reached, middle, high)
        low = np.where(reached, low, middle)
    return high
