"""Sums in twice the precision of float64, so that they depend neither on order nor on grouping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats


def add_exactly(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and what rounding lost (Knuth's exact addition)."""
    total = first + second
    part = total - first
    return total, (first - (total - part)) + (second - part)


def exact_sum(rows: Floats) -> tuple[Floats, Floats]:
    """Add up rows: the high and the low part of the sum of each column.

    Examples
    --------
    >>> exact_sum(np.array([[1e16], [1.0], [-1e16]]))
    (array([0.]), array([1.]))
    """
    high, low = np.zeros((2, rows.shape[1]))
    for row in rows:
        high, lost = add_exactly(high, row)
        low += lost
    return high, low
