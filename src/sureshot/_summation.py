"""Sums in twice the precision of float64, so that they depend neither on order nor on grouping."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sureshot._types import Floats


def add_exactly(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and what rounding lost (Knuth's exact addition)."""
    total = first + second
    part = total - first
    return total, (first - (total - part)) + (second - part)
