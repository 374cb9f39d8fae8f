"""Blocks that lie side by side are read together, as fast as rows that are read from end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.blocks import CACHE_LINE
from sureshot.theory.narrowing import KEPT, POWER

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.blocks import Blocks
    from sureshot.sources.base import Source

# Cache lines of a row that are read together at most: at eight kilobytes a row is read as fast as from end to end.
LINES_TOGETHER = 128
# Portions that the first round reads, at least: a budget is spent in whole portions.
FEWEST_PORTIONS = 2


def blocks_together(source: Source, numbers: float) -> int:
    """Return how many blocks to read together if there is a budget of so many numbers for each arm."""
    lines = source.blocks.size * source.bytes_per_number / CACHE_LINE
    first_round = (1 - KEPT**POWER) * numbers / (KEPT * source.blocks.size)
    most = min(LINES_TOGETHER / lines, first_round / FEWEST_PORTIONS)
    return max(1, int(most))


class Portions:
    """Some blocks, in portions of at most `together` neighbours.

    Examples
    --------
    >>> from sureshot.blocks import Blocks
    >>> portions = Portions(Blocks(20, size=2), np.array([0, 1, 3, 4, 6, 9]), together=3)
    >>> portions.count, portions.numbers
    (4, 12)
    >>> portions.blocks_of(np.array([1, 0]))
    array([0, 1, 3, 4])
    >>> portions.sums(np.ones(10))
    array([2., 2., 1., 1.])
    """

    def __init__(self, layout: Blocks, blocks: Ints, together: int) -> None:
        self._blocks = blocks
        _, self._portion = np.unique(blocks // together, return_inverse=True)
        self._layout = layout
        self.count = int(self._portion[-1]) + 1 if len(blocks) else 0
        self.numbers = self.numbers_in(blocks)

    def sums(self, values: Floats) -> Floats:
        """Return the sum over the blocks of each portion, of one value per block of the layout."""
        sums: Floats = np.zeros(self.count)
        np.add.at(sums, self._portion, values[self._blocks])
        return sums

    def blocks_of(self, portions: Ints) -> Ints:
        """Return the blocks of some portions, in address order."""
        chosen = np.zeros(self.count, dtype=bool)
        chosen[portions] = True
        found: Ints = self._blocks[chosen[self._portion]]
        return found

    def numbers_in(self, blocks: Ints) -> int:
        """Return how many coordinates some ascending blocks have."""
        layout, numbers = self._layout, len(blocks) * self._layout.size
        ends = blocks[[0, -1]] if len(blocks) > 1 else blocks
        for block in ends.tolist():  # the first and the last one of all may be shorter
            first, end = layout.span(block)
            numbers -= layout.size - (end - first)
        return numbers
