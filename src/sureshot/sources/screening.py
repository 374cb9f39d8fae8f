"""Queries in float32, for a screen, and what they lose by that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Array, Floats


@dataclass(frozen=True, slots=True)
class RoundedQueries:
    """Queries as a screen reads them; of each, what `Screened` says of it."""

    values: Array  # float32
    norms: Floats
    roundings: Floats
    units: Floats


def rounded_queries(queries: Floats, reward: str) -> RoundedQueries | None:
    """Return the queries in float32; None if a distance asks for values that float32 does not have.

    For inner products each is divided by a power of two first, so that its largest value is about 1.
    """
    units = np.ones(len(queries))
    if reward == "ip":
        units = np.array([_power_of_two(query) for query in queries])
    scaled = queries / units[:, None]
    with np.errstate(over="ignore"):
        values = scaled.astype(np.float32)
    if not np.isfinite(values).all():
        return None
    lost = np.abs(scaled - values)
    roundings = lost.sum(axis=1) if reward == "l1" else _norms(lost)
    norms = _norms(scaled)
    return RoundedQueries(values, norms * units, roundings * units, units)


def _power_of_two(query: Floats) -> float:
    """Return one that is about the largest value."""
    return math.ldexp(1.0, math.frexp(float(np.abs(query).max()))[1])


def _norms(rows: Floats) -> Floats:
    """Return the Euclidean norms; no square of them overflows or underflows."""
    largest = np.abs(rows).max(axis=1)
    divisors = np.where(largest > 0, largest, 1.0)
    norms: Floats = largest * np.sqrt(np.square(rows / divisors[:, None]).sum(axis=1))
    return norms
