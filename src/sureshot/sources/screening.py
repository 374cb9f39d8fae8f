"""Queries in float32, for a screen, and what they lose by that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Array, Floats

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True)
class RoundedQueries:
    """Queries as a screen reads them; of each, what `Screened` says of it."""

    values: Array  # float32
    norms: Floats
    roundings: Floats
    units: Floats


def rounded_queries(queries: Floats, reward: str) -> RoundedQueries | None:
    """Return the queries in float32; None if a distance asks for values that float32 does not have.

    None, too, if a query is zero: all products with it are equal. For inner products each query is divided
    by a power of two first, so that its largest value is about 1.
    """
    largest = np.abs(queries).max(axis=1)
    norms, units, scaled = largest, np.ones(len(queries)), queries
    if reward == "ip":
        if not largest.all():
            return None
        units = np.ldexp(0.5, np.frexp(largest)[1])
        scaled = queries / units[:, None]
        norms = np.sqrt(np.square(scaled).sum(axis=1)) * units
    elif largest.max() > LARGEST_FLOAT32:
        return None
    values = scaled.astype(np.float32)
    lost = scaled - values
    roundings = np.zeros(len(queries))
    if lost.any():
        roundings = (np.abs(lost).sum(axis=1) if reward == "l1" else _norms(lost)) * units
    return RoundedQueries(values, norms, roundings, units)


def _norms(rows: Floats) -> Floats:
    """Return the Euclidean norms; no square of them overflows or underflows."""
    largest = np.abs(rows).max(axis=1)
    divisors = np.where(largest > 0, largest, 1.0)
    norms: Floats = largest * np.sqrt(np.square(rows / divisors[:, None]).sum(axis=1))
    return norms
