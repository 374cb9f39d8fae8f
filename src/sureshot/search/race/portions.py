"""Blocks that lie side by side are read together, as fast as rows that are read from end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._seed import seed_from

if TYPE_CHECKING:
    from numpy.random import Generator

    from sureshot._types import Floats, Ints
    from sureshot.blocks import Blocks
    from sureshot.sources.base import Source

# Bytes of a row that are read together, at least and at most: from half a kilobyte on a row is read nearly as
# fast as from end to end, and so is a column of memory. Of a file by column, columns.
SHORTEST_PIECE, LONGEST_PIECE = 512, 8192
FEWEST_COLUMNS, MOST_COLUMNS = 128, 512
# Portions that the first round reads, if they are not too short: neighbours are often alike.
FEWEST_PORTIONS = 4


def blocks_together(source: Source, blocks: float) -> int:
    """Return how many blocks to read together where the first round reads so many of each arm.

    Of columns in memory no more than it takes to read them fast: the fewer, the more their weights differ.
    """
    if source.coordinate_major and source.dense is not None:
        column = source.n_arms * source.bytes_per_number
        return max(1, min(-(-SHORTEST_PIECE // (column * source.blocks.size)), int(blocks)))
    if source.coordinate_major:
        size, least, most = source.blocks.size, FEWEST_COLUMNS, MOST_COLUMNS
    else:
        size = source.blocks.size * source.bytes_per_number
        least, most = SHORTEST_PIECE, LONGEST_PIECE
    wanted = min(max(blocks / FEWEST_PORTIONS, least / size), most / size)
    return max(1, int(min(wanted, blocks)))


class Portions:
    """Some ascending blocks, in portions of at most `together` neighbours.

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
        # They are ascending, so a portion begins where the quotient changes.
        self._portion = np.cumsum(np.diff(blocks // together, prepend=blocks[:1] // together) != 0)
        self._layout = layout
        self.count = int(self._portion[-1]) + 1 if len(blocks) else 0
        self.numbers = self.numbers_in(blocks)

    def sums(self, values: Floats) -> Floats:
        """Return the sum over the blocks of each portion, of one value per block of the layout."""
        sums: Floats = np.zeros(self.count)
        np.add.at(sums, self._portion, values[self._blocks])
        return sums

    def by_weight(self, weight: Floats, rng: Generator) -> Ints:
        """Return the portions in the order in which they are read, given the weight of each block of the layout.

        What a score can owe to a portion is its weight, so the largest come first, and equal ones at random.
        """
        return _native.heaviest_first(self.sums(weight), seed_from(rng))

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
