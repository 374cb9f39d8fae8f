"""Data at the edges, on which a careless search goes wrong: zero, constant, tied, denormal, huge, in one place only.

Small tables that are searched many times in random orders: how often the answer is wrong is then compared with what its
certificate allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from sureshot._types import Floats

    Shape = tuple[int, int]


def positive(rng: Generator, shape: tuple[int, ...]) -> Floats:
    """Return numbers of one size, without a sign to tell them by."""
    return rng.uniform(0.5, 1.5, shape)


def low_rank(rng: Generator, shape: Shape) -> Floats:
    """Return rows that are mixtures of four."""
    return np.asarray(rng.standard_normal((shape[0], 4)) @ rng.standard_normal((4, shape[1])))


def one_stretch(rng: Generator, shape: Shape, length: int) -> Floats:
    """Return rows that live in the same few coordinates, as after padding with zeros."""
    data = np.zeros(shape)
    start = int(rng.integers(0, shape[1] - length))
    data[:, start : start + length] = positive(rng, (shape[0], length)) * positive(
        rng, (shape[0], 1)
    )
    return data


def first_in_one_arm(rng: Generator, shape: Shape) -> Floats:
    """Return one row that is small everywhere, while all others live in a stretch that is met later."""
    data = one_stretch(rng, shape, 48)
    data[shape[0] // 6] = 1e-3 * positive(rng, (shape[1],))
    return data


def one_stretch_each(rng: Generator, shape: Shape) -> Floats:
    """Return rows with a stretch of their own each."""
    data = np.zeros(shape)
    for row in data:
        start = int(rng.integers(0, shape[1] - 64))
        row[start : start + 64] = positive(rng, (64,))
    return data


def one_value_each(rng: Generator, shape: Shape) -> Floats:
    """Return rows with a single number that is not zero."""
    data = np.zeros(shape)
    data[np.arange(shape[0]), rng.integers(0, shape[1], shape[0])] = positive(rng, (shape[0],))
    return data


def constant(rng: Generator, shape: Shape) -> Floats:
    """Return rows of one value each."""
    return np.repeat(rng.uniform(-1, 1, (shape[0], 1)), shape[1], axis=1)


def one_row_only(rng: Generator, shape: Shape) -> Floats:
    """Return zeros but for one row."""
    data = np.zeros(shape)
    data[int(rng.integers(shape[0]))] = 0.02
    return data


def tied(rng: Generator, shape: Shape) -> Floats:
    """Return three kinds of rows: nothing tells the copies of the best kind apart."""
    return positive(rng, (3, shape[1]))[np.arange(shape[0]) % 3]


def nearly_tied(rng: Generator, shape: Shape) -> Floats:
    """Return copies of one row that differ in their last digits."""
    return rng.standard_normal(shape[1]) + 1e-13 * rng.standard_normal(shape)


def one_arm_beyond(rng: Generator, shape: Shape, factor: float) -> Floats:
    """Return rows of which the first has another unit of measurement."""
    data = low_rank(rng, shape)
    data[0] *= factor
    return data


def cancelling(rng: Generator, shape: Shape) -> Floats:
    """Return large values that cancel within every block, and small ones that do not."""
    data = 1e-3 * rng.standard_normal(shape)
    data += 1e3 * np.where(np.arange(shape[1]) % 2, 1.0, -1.0)
    return data


EDGES: dict[str, Callable[[Generator, Shape], Floats]] = {
    "nothing": lambda _, shape: np.zeros(shape),
    "one stretch of 16": lambda rng, shape: one_stretch(rng, shape, 16),
    "one stretch of 64": lambda rng, shape: one_stretch(rng, shape, 64),
    "first in one arm": first_in_one_arm,
    "a stretch of its own": one_stretch_each,
    "one value each": one_value_each,
    "constant": constant,
    "one row only": one_row_only,
    "tied": tied,
    "nearly tied": nearly_tied,
    "cancelling": cancelling,
    "first row tiny": lambda rng, shape: one_arm_beyond(rng, shape, 1e-25),
    "first row huge": lambda rng, shape: one_arm_beyond(rng, shape, 1e25),
    "denormal": lambda rng, shape: 1e-310 * low_rank(rng, shape),
    "squares vanish": lambda rng, shape: 1e-170 * low_rank(rng, shape),
    "squares overflow": lambda rng, shape: 1e160 * low_rank(rng, shape),
}

# Rows without a direction have no cosine, denormal numbers too few digits, and float64 no distances that are
# larger than it: these are refused.
UNDEFINED = {
    ("nothing", "cosine"),
    ("one row only", "cosine"),
    ("denormal", "cosine"),
    ("squares overflow", "sqeuclidean"),
}


def query_for(name: str, rng: Generator, shape: Shape) -> Floats:
    """Return a query that some rows answer to."""
    if "stretch" in name or "first in" in name:
        return positive(rng, (shape[1],))
    return np.asarray(low_rank(rng, shape)[0])


# Zeros and ones, best where a query of ones is nearest: the count of ones decides for every metric. How many ones the best
# row has more than the others is given, so that it can be a little more than what may be lost.


def antithetic(rng: Generator, shape: Shape, more: int) -> Floats:
    """Return rows of which the last one wins exactly where all others lose."""
    winner = np.zeros(shape[1])
    winner[rng.permutation(shape[1])[: (shape[1] + more + 1) // 2]] = 1
    return np.array([*([1 - winner] * (shape[0] - 1)), winner])


def coins(rng: Generator, shape: Shape, more: int) -> Floats:
    """Return rows with their ones at places of their own, as many as the best one but for `more`."""
    ones = np.full(shape[0], shape[1] // 2)
    ones[int(rng.integers(shape[0]))] += more
    data = np.zeros(shape)
    for row, count in zip(data, ones, strict=True):
        row[rng.permutation(shape[1])[:count]] = 1
    return data


def late(rng: Generator, shape: Shape, more: int) -> Floats:
    """Return a best row whose ones lie side by side, so that most orders meet them late, among spread ones."""
    data = coins(rng, shape, 0)
    best = int(rng.integers(shape[0]))
    ones = shape[1] // 2 + more
    data[best] = np.roll(np.arange(shape[1]) < ones, int(rng.integers(shape[1])))
    return data


COUNTED: dict[str, Callable[[Generator, Shape, int], Floats]] = {
    "antithetic": antithetic,
    "coins": coins,
    "late": late,
}
