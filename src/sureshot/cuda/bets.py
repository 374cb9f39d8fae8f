"""Bets in float32 on the steps of a round, operation by operation as a device places them.

Every line is one operation on numbers of float32, rounded to nearest and never fused; maxima and minima take
the other number if one is NaN. So a device that does the same operations has the same bits.

Arrays are (arms, steps of the round). Glossary: y normalised block sum, u normalised square, mu the mean of y
that the threshold needs, m what the norm leaves of the mean of u, root its root; d how far the mean so far is
below mu, spread about the mean square of mu - y, drift how far the mean of u so far is below m; rho and size
the choice of the bet (section 5 of ``docs/theory.md``), cap the largest payoff.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot.cuda import rounding

if TYPE_CHECKING:
    import numpy.typing as npt

    from sureshot._types import Bools
    from sureshot.cuda.order import Order

    Float32s = npt.NDArray[np.float32]

_f = np.float32
_ZERO, _ONE, _HALF = _f(0), _f(1), _f(0.5)
_C = _f(rounding.C)
_ROOM = _f(rounding.ROOM)
_LARGEST = _f(3e38)

# This share of the mean square is added to the sum of squares from which a variance is estimated.
SOFTENING = _f(1e-6)
TINY = _f(1e-37)

# Stakes start at this step: earlier means and variances would come from too few steps.
FIRST_STAKE = 4


@dataclass(slots=True)
class Sums:
    """Sums over the steps before, one number an arm: of x, y, y squared, |v_b| squared and u."""

    known: Float32s
    y: Float32s
    y_squared: Float32s
    squares: Float32s
    u: Float32s

    @classmethod
    def of(cls, count: int) -> Sums:
        """Return the sums of so many arms before the first step."""
        return cls(*(np.zeros(count, dtype=_f) for _ in range(5)))

    def taken(self, which: npt.NDArray[np.generic]) -> Sums:
        """Return those of some arms."""
        return Sums(*(part[which] for part in self.parts()))

    def parts(self) -> tuple[Float32s, ...]:
        """Return all sums, in the order of their names."""
        return (self.known, self.y, self.y_squared, self.squares, self.u)


@dataclass(frozen=True, slots=True)
class Steps:
    """What is known of the steps of a round: one number a step."""

    count: Float32s
    inverse_count: Float32s  # 1 / max(count, 1)
    inverse_rest: Float32s  # 1 / max(count - 1, 1)
    inverse_weight: Float32s
    inverse_left: Float32s

    @classmethod
    def of(cls, order: Order, begin: int, end: int) -> Steps:
        """Return the steps from `begin` to before `end`."""
        count = np.arange(begin, end, dtype=_f)
        return cls(
            count,
            _inverse(count),
            _inverse(count - _ONE),
            order.inverse_weight[begin:end],
            order.inverse_left[begin:end],
        )

    @classmethod
    def after(cls, order: Order, count: int) -> Steps:
        """Return the step after so many, of which nothing was read: it has no weight."""
        counts = np.array([count], dtype=_f)
        return cls(
            counts,
            _inverse(counts),
            _inverse(counts - _ONE),
            np.zeros(1, dtype=_f),
            order.inverse_left[count : count + 1],
        )


def _inverse(count: Float32s) -> Float32s:
    return np.divide(_ONE, np.maximum(count, _ONE), dtype=_f)


@dataclass(slots=True)
class Played:
    """What a round leaves: the sums and the wealth of each arm, and which wealths have won."""

    sums: Sums
    wealth: Float32s  # (signs, arms)
    won: Bools  # (signs, arms)


def play(
    x: Float32s,
    squares: Float32s,
    sums: Sums,
    wealth: Float32s,
    steps: Steps,
    theta: Float32s,
    square_limit: Float32s,
    level: np.float32,
) -> Played:
    """Bet on the steps of a round.

    Parameters
    ----------
    x, squares
        Block sums and sums of squares of the steps, (arms, steps).
    sums, wealth
        Before the round; a second row of wealth is for the rewards with the other sign.
    theta, square_limit
        Threshold less guard, and widened squared norm, of each arm.
    level
        A wealth that has reached it has won, and counts as infinite from there on.
    """
    count = x.shape[1]
    y = x * steps.inverse_weight
    y_squared = y * y
    u = np.fmax(squares * steps.inverse_weight, y_squared)
    bases = sums.parts()
    scans = [scanned(filled(now, 0)) for now in (x, y, y_squared, squares, u)]
    past = Sums(*(before(s, base)[:, :count] for s, base in zip(scans, bases, strict=True)))
    won = np.zeros(wealth.shape, dtype=bool)
    after = np.empty_like(wealth)
    for j, sign in enumerate((_ONE, -_ONE)[: len(wealth)]):
        seen = Sums(sign * past.known, sign * past.y, past.y_squared, past.squares, past.u)
        found = factors(sign * y, u, seen, steps, theta, square_limit)
        now = wealth[j][:, None] * scanned(filled(found.factor, 1), np.multiply)
        won[j] = ((now[:, :count] >= level) | found.certain).any(axis=1)
        last = np.where(now[:, -1] < _f(rounding.LEAST_WEALTH), _ZERO, now[:, -1])
        after[j] = np.where(won[j], _f(np.inf), last)
    ends = (base + s[:, -1] for s, base in zip(scans, bases, strict=True))
    return Played(Sums(*ends), after, won)


def filled(values: Float32s, rest: float) -> Float32s:
    """Return the numbers of a round, with lanes beyond the last step filled up."""
    lanes = np.full((len(values), rounding.ROUND), _f(rest))
    lanes[:, : values.shape[1]] = values
    return lanes


def scanned(values: Float32s, operation: np.ufunc = np.add) -> Float32s:
    """Return the inclusive sums, or products, along a round as `ROUND` lanes make them.

    For o = 1, 2, 4, 8 lane l combines its number with that of lane l - o as it was before.
    """
    distance = 1
    while distance < values.shape[1]:
        ahead = values.copy()
        ahead[:, distance:] = operation(values[:, distance:], values[:, :-distance])
        values, distance = ahead, 2 * distance
    return values


def before(inclusive: Float32s, base: Float32s) -> Float32s:
    """Return what each step finds: the base plus the sum of the steps of the round before it."""
    exclusive = np.zeros_like(inclusive)
    exclusive[:, 1:] = inclusive[:, :-1]
    return base[:, None] + exclusive


def variance(mean: Float32s, second: Float32s, steps: Steps) -> Float32s:
    """Return the variance of y before each step, which is never zero."""
    scatter = np.fmax(second - mean * mean, _ZERO) * steps.count
    return (scatter + SOFTENING * second) * steps.inverse_rest + TINY


@dataclass(frozen=True, slots=True)
class Factors:
    """What a round does to the wealth of each arm, and the numbers of each bet: none where size is 0."""

    factor: Float32s
    certain: Bools
    size: Float32s
    needed: Float32s  # mu
    payoff: Float32s


def chosen_rho(
    mu: Float32s, d: Float32s, spread: Float32s, m: Float32s, drift: Float32s
) -> Float32s:
    """Return rho before it is raised to root: any would be valid, this one is predicted to win fast."""
    t = (drift + _C * spread) / (d + d)
    rho: Float32s = t + np.sqrt(np.fmax(t * (t - (mu + mu)) + m, _ZERO))
    return rho


def factors(
    y: Float32s, u: Float32s, past: Sums, steps: Steps, theta: Float32s, square_limit: Float32s
) -> Factors:
    """Return the factor of each step, made of the steps before it, and whether a drop is certain.

    Parameters
    ----------
    y, u
        Of the steps themselves; u is not below the computed y * y.
    past
        Sums before each step, (arms, steps).
    theta, square_limit
        Threshold less guard, and widened squared norm, of each arm.
    """
    mean = past.y * steps.inverse_count
    second = past.y_squared * steps.inverse_count
    spread_of_y = variance(mean, second, steps)
    mu = (theta[:, None] - past.known) * steps.inverse_left
    m = np.fmax(square_limit[:, None] - past.squares, _ZERO) * steps.inverse_left
    root = np.sqrt(m)
    certain = mu > root
    d = mu - mean
    spread = spread_of_y + d * d
    drift = m - past.u * steps.inverse_count
    rho = np.fmax(chosen_rho(mu, d, spread, m, drift), root)
    r = _HALF / rho
    cap = _HALF * rho + m * r
    room = (cap - mu) + cap * _ROOM
    free = d * room <= _C * spread
    size = np.where(free, d, _C) / np.where(free, spread, room)
    payoff = y - (u - m) * r
    factor = _ONE + size * (mu - payoff)
    factor = np.fmin(np.fmax(factor, _f(rounding.LEAST_FACTOR)), _f(rounding.MOST_FACTOR))
    bet = (steps.count >= FIRST_STAKE) & (d > _ZERO) & ~certain
    bet &= (rho > _ZERO) & (r < _LARGEST) & (size < _LARGEST)
    return Factors(np.where(bet, factor, _ONE), certain, np.where(bet, size, _ZERO), mu, payoff)
