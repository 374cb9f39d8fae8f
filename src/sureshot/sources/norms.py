"""Norms of rows, from the sums of their squares, and those that rows are said to have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot.errors import BoundsError

if TYPE_CHECKING:
    from sureshot._types import Array, Bools, Floats, Ints
    from sureshot.storage.matrix import Matrix

# More than the relative error of a norm that is computed in double.
ROUNDING = 1e-9

# More than that of one that a screen computes in float32, of values whose squares are normal numbers.
SCREENED_ROUNDING = 1e-5

# A sum of squares below this may have lost some of them.
SMALLEST_SQUARE = 2.0**-900


def norms_of(data: Array | Matrix, arms: Ints, squares: Floats) -> Floats:
    """Return the norms of some rows from the sums of their squares.

    Where squares are beyond the numbers of float64, the row is read once more and scaled first.
    """
    norms = np.sqrt(squares)
    if data.dtype != np.float64:  # no other type has values with such squares
        return norms
    with np.errstate(invalid="ignore"):
        odd = np.flatnonzero(~((squares > SMALLEST_SQUARE) & (squares < np.inf)))
    for position in odd.tolist():
        row = data[arms[position]]
        norms[position] = largest = float(np.abs(row).max())
        if np.isfinite(largest) and largest > 0:
            exponent = math.frexp(largest)[1]  # of two, which loses nothing
            with np.errstate(over="ignore"):
                norms[position] = np.ldexp(np.linalg.norm(np.ldexp(row, -exponent)), exponent)
    return norms


def leeway_of(rounding: float) -> float:
    """Return by how much of itself a norm may be off from one that is computed in double."""
    return rounding + ROUNDING


def screened_leeway_of(rounding: float) -> float:
    """Return by how much of itself a norm may be off from one that is computed in float32."""
    return rounding + SCREENED_ROUNDING


@dataclass(frozen=True, slots=True)
class PromisedNorms:
    """The norms of some rows, as somebody has promised them."""

    arms: Ints  # the rows, ascending
    norms: Floats
    rounding: float  # by how much of itself a norm may be off

    @property
    def leeway(self) -> float:
        """By how much of itself a norm may be off from one that is computed in double."""
        return leeway_of(self.rounding)

    @property
    def screened_leeway(self) -> float:
        """By how much of itself a norm may be off from one that is computed in float32."""
        return screened_leeway_of(self.rounding)

    def of(self, arms: Ints) -> Floats:
        """Return the promised norms of some of the rows."""
        whole = len(arms) == len(self.arms)
        return self.norms if whole else self.norms[self._positions(arms)]

    def _positions(self, arms: Ints) -> Ints:
        first, last = int(self.arms[0]), int(self.arms[-1])
        if last - first < len(self.arms):  # none is left out
            return arms - first
        return np.searchsorted(self.arms, arms)

    def check(self, arms: Ints, found: Floats, *, whole: bool = True) -> None:
        """Raise `BoundsError` if the norms of these rows, or of parts of them, say otherwise."""
        promised = self.of(arms)
        leeway = promised * self.leeway
        more = found - promised
        wrong = (np.abs(more) if whole else more) > leeway
        if wrong.any():
            at = int(np.argmax(wrong))
            message = (
                f"data row {arms[at]} has a norm of {'' if whole else 'at least '}{found[at]:.9g}, "
                f"not the {promised[at]:.9g} which the bounds promise as exact: pass the norms of "
                "this data, or bounds='scan'"
            )
            raise BoundsError(message)

    def doubtful(self, arms: Ints, squares: Floats) -> Bools:
        """Return which of these rows may not have their norms, by squares computed in float32."""
        promised = self.of(arms)
        leeway = promised * self.screened_leeway
        return ~(np.abs(np.sqrt(squares) - promised) <= leeway)
