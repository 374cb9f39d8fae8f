"""Hostile lists of rewards, drawn in many random orders at once: one column per trial.

Every population is at the boundary: the score of the arm is exactly the threshold that is tested,
so that each drop is an error, and the promise is tight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot.theory import wealth

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Floats, Ints

TRIALS = 5000
DELTAS = (0.3, 0.1, 0.05, 0.01)


@dataclass(frozen=True)
class Walk:
    """One list of block sums, drawn in TRIALS orders. Arrays are (steps, trials)."""

    y: Floats
    known: Floats
    left: Floats
    weight: Floats
    squares: Floats
    score: float
    limit: float
    norm: float

    @property
    def theta(self) -> Floats:
        return np.full(self.y.shape[1], self.score)

    @property
    def scale(self) -> float:
        """The standard deviation of the score if blocks were drawn with replacement."""
        return float(self.y.std() * self.left[0, 0] / np.sqrt(len(self.y)))


def walk(
    rng: np.random.Generator,
    sums: Floats,
    weight: Floats,
    *,
    limit: float = 1.0,
    squares: Floats | None = None,
    orders: Ints | None = None,
) -> Walk:
    """Draw the blocks of one arm in as many weighted orders as there are trials."""
    if orders is None:
        orders = draw_orders(rng, weight)
    drawn = weight[orders]
    y = sums[orders] / drawn
    left = np.cumsum(drawn[::-1], axis=0)[::-1]
    squared = sums**2 / weight if squares is None else squares
    return Walk(
        y=y,
        known=wealth.before(drawn * y),
        left=left,
        weight=drawn,
        squares=squared[orders],
        # A hair below the score, as the guard of a search is: the order of summation is not exact.
        score=float(sums.sum()) - 1e-12 * float(np.abs(sums).sum()),
        limit=limit,
        norm=float(np.sqrt(squared.sum())) * (1 + 1e-12),
    )


def draw_orders(rng: np.random.Generator, weight: Floats) -> Ints:
    keys = rng.standard_exponential((len(weight), TRIALS)) / weight[:, None]
    return np.argsort(keys, axis=0)


def two_valued(share: float, high: float, low: float, steps: int) -> Floats:
    values = np.full(steps, low)
    values[: max(1, round(share * steps))] = high
    return values


def _equal_weights(values: Floats) -> tuple[Floats, Floats]:
    return values, np.ones(len(values))


def _log_normal_weights(rng: np.random.Generator) -> tuple[Floats, Floats]:
    weight = rng.lognormal(0, 1.5, 300)
    return weight * rng.choice([-1.0, 1.0], 300), weight


# Range bets: sums and weights, |y| <= 1.
RANGE: dict[str, Callable[[np.random.Generator], tuple[Floats, Floats]]] = {
    "fair coin": lambda _: _equal_weights(two_valued(0.5, 1, -1, 300)),
    "rare high rewards": lambda _: _equal_weights(two_valued(0.02, 1, -0.05, 300)),
    "rare low rewards": lambda _: _equal_weights(two_valued(0.98, 0.05, -1, 300)),
    "one huge reward": lambda _: _equal_weights(two_valued(0.0, 1, -0.003, 300)),
    "log-normal weights": _log_normal_weights,
    "uniform": lambda rng: _equal_weights(rng.uniform(-1, 1, 300)),
    "heavy tails": lambda rng: _equal_weights(np.clip(rng.standard_t(1.5, 300) / 20, -1, 1)),
    "few blocks": lambda rng: _equal_weights(rng.choice([-1.0, 1.0], 12)),
    "constant": lambda _: _equal_weights(np.full(100, 0.25)),
    "drifting ranks": lambda rng: _equal_weights(np.sort(rng.uniform(-1, 1, 300)) ** 3),
}


def guesses(path: Walk) -> dict[str, Floats]:
    """Return guesses of the threshold as a search may have made them: right, and too high."""
    steps = len(path.y)
    return {
        "at the score": np.full((steps, 1), path.score),
        "above it": np.full((steps, 1), path.score + 2 * path.scale),
    }


def range_bets(path: Walk, guess: Floats) -> wealth.Bets:
    return wealth.range_bets(path.y, path.known, path.left, guess, np.array([path.limit]))


def norm_bets(path: Walk, guess: Floats) -> wealth.Bets:
    return wealth.norm_bets(
        path.y,
        path.known,
        path.left,
        guess,
        path.squares,
        path.weight,
        np.array([path.norm**2]),
    )
