"""How many coordinates are read together, and where the blocks begin in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sureshot.blocks import CACHE_LINE, Blocks
from sureshot.sources.dense import is_coordinate_major
from sureshot.storage.matrix import Matrix

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.search.methods import Method

# Bytes from which on an array has memory pages of its own: then its address within a cache line is the
# same in every run, and its threads are worth starting early.
LARGE_ARRAY = 1 << 25

# Columns read together where bets are made with norms, and where limits are estimated: those of blocks are narrower.
COLUMNS_FOR_NORMS = 16
COLUMNS_WITHOUT_LIMITS = 4


def choose_blocks(
    data: Array | Matrix, asked: int | None, method: Method, *, columns: int = 1
) -> Blocks:
    """Return the blocks: what a storage hands over at once.

    From memory that is a cache line, and so many columns where a column is contiguous: one, unless the bets profit from
    blocks. Norm bets weigh a block by the squared query, so a single coordinate with a small query value has an enormous
    normalised reward, and terms that cancel make bets of any kind safer.
    """
    n_coordinates = int(data.shape[1])
    if isinstance(data, Matrix):
        unit = 1 if method.single_coordinates else data.unit_columns
        if unit == 1 and not method.single_coordinates:
            unit = columns
        return Blocks(n_coordinates, min(asked or unit, n_coordinates))
    if asked is None and not method.single_coordinates and is_coordinate_major(data):
        size = min(columns, n_coordinates)
    else:
        size = size_by_row(asked, method, n_coordinates, data.itemsize)
    return Blocks(n_coordinates, size, first_block_shift(data, size))


def size_by_row(asked: int | None, method: Method, n_coordinates: int, itemsize: int) -> int:
    """Return how many coordinates are read together where rows lie in memory one after the other."""
    if asked is None:
        asked = 1 if method.single_coordinates else CACHE_LINE // itemsize
    return min(asked, n_coordinates)


def first_block_shift(data: Array, size: int) -> int:
    """Return by how much the first block must be shorter for the others to begin with a cache line.

    A block across two lines costs twice the time. Small arrays are in the caches anyway, and their
    address may change from run to run, on which no search should depend.
    """
    row, number = data.strides
    whole_lines = row % CACHE_LINE == 0 and size * data.itemsize % CACHE_LINE == 0
    if number != data.itemsize or not whole_lines or data.nbytes < LARGE_ARRAY:
        return 0
    address: int = data.__array_interface__["data"][0]
    return address % CACHE_LINE // data.itemsize
