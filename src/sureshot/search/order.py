"""The random order in which coordinates or blocks are pulled. One order serves all arms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Bools, Floats, Ints


def uniform_order(rng: np.random.Generator, count: int) -> Ints:
    """Return 0 ... count - 1 in a uniformly random order."""
    return rng.permutation(count)


class WeightedOrder:
    """Blocks drawn one after the other without replacement, in proportion to their weight.

    Sorting by E / w with E exponential gives that order at once; only its beginning is ever
    sorted, since a search seldom needs more than a few per cent of it. Blocks of weight 0 are
    constants and are never drawn.

    Attributes
    ----------
    length
        Blocks that can be drawn.
    blocks
        The blocks drawn so far, in drawn order.
    left
        Weight not yet drawn before each of those steps.
    """

    def __init__(self, weight: Floats, rng: np.random.Generator) -> None:
        self.weight = weight
        self._waiting: Ints = np.flatnonzero(weight > 0)
        self._keys: Floats = rng.standard_exponential(len(self._waiting)) / weight[self._waiting]
        self.length = len(self._waiting)
        self.blocks: Ints = np.empty(0, dtype=np.int64)
        self.left: Floats = np.empty(0)

    def draw(self, front: int) -> None:
        """Draw on until `front` blocks are drawn in all."""
        count = front - len(self.blocks)
        if count < len(self._waiting):
            split = np.argpartition(self._keys, count)
            chosen, rest = split[:count], split[count:]
        else:
            chosen, rest = np.arange(len(self._waiting)), np.empty(0, dtype=np.int64)
        chosen = chosen[np.argsort(self._keys[chosen])]
        drawn = self._waiting[chosen]
        self._waiting, self._keys = self._waiting[rest], self._keys[rest]
        # Summed from the end: what is left must be right in relation to itself, not to the whole.
        weights_from_end = np.append(self.weight[self._waiting].sum(), self.weight[drawn[::-1]])
        self.left = np.append(self.left, np.cumsum(weights_from_end)[:0:-1])
        self.blocks = np.append(self.blocks, drawn)

    def left_after(self, front: int) -> float:
        """Return the weight that is not among the first `front` blocks drawn."""
        if front < len(self.left):
            return float(self.left[front])
        return float(self.weight[self._waiting].sum())

    def undrawn(self, front: int) -> Ints:
        """Return the blocks that are not among the first `front` drawn, in address order."""
        waiting: Bools = self.weight > 0
        waiting[self.blocks[:front]] = False
        return np.flatnonzero(waiting)
