"""How the coordinates of a row are cut into blocks, which are pulled as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats

# Bytes that come together from memory.
CACHE_LINE = 64


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of `size` consecutive coordinates; the first and the last may be shorter.

    The first is short by `shift`, so that the others can begin where a cache line does.

    Examples
    --------
    >>> blocks = Blocks(10, size=4, shift=1)
    >>> blocks.count, [blocks.span(block) for block in range(3)]
    (3, [(0, 3), (3, 7), (7, 10)])
    >>> blocks.sizes(), blocks.sums(np.ones(10))
    (array([3., 4., 3.]), array([3., 4., 3.]))
    """

    n_coordinates: int
    size: int = 1
    shift: int = 0

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return -(-(self.n_coordinates + self.shift) // self.size)

    def span(self, block: int) -> tuple[int, int]:
        """Return where a block starts, and where it stops."""
        start = block * self.size - self.shift
        return max(start, 0), min(start + self.size, self.n_coordinates)

    def sizes(self) -> Floats:
        """Return how many coordinates each block has."""
        sizes = np.full(self.count, float(self.size))
        for block in {0, self.count - 1}:
            first, stop = self.span(block)
            sizes[block] = stop - first
        return sizes

    def sums(self, values: Floats) -> Floats:
        """Add up the values of each block, one value per coordinate."""
        if self.size == 1:
            return values
        starts = np.arange(0, self.n_coordinates + self.shift, self.size) - self.shift
        return np.add.reduceat(values, np.maximum(starts, 0))
