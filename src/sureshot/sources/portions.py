"""Data in portions that fit into memory: the next one is read while the last one is added up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from sureshot._types import Array, Ints
    from sureshot.storage.base import Stored

# Bytes that are read for a portion, unless a single unit of the storage has more: two portions are in memory at a time.
BYTES_OF_PORTION = 1 << 24

# Rows whose columns come in several portions: something is kept of each meanwhile.
ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class Wanted:
    """Pieces of equal size of some rows."""

    rows: slice  # of those that were asked for
    starts: Ints
    size: int


@dataclass(frozen=True, slots=True)
class Portion:
    """Some pieces of some rows."""

    wanted: Wanted
    values: Array  # (rows, starts, size)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Some blocks of some rows, in memory."""

    rows: slice  # of those that were asked for
    starts: slice
    values: Array  # (rows, starts, size)


@dataclass(frozen=True, slots=True)
class Rows:
    """Some columns of some rows, in memory: all columns, or one portion of them after the other."""

    places: slice  # among those that were asked for
    columns: slice
    values: Array
    arms: Ints  # where they lie in `values`


def pieces_of(stored: Stored, rows: Ints, starts: Ints, size: int) -> Generator[Pieces]:
    """Read `size` columns of each row from each start on. The values are those of `_read`."""
    of_starts: list[slice] = []
    wanted: list[Wanted] = []
    for some, at_once in _groups(stored, rows, len(starts), size):
        for at in range(0, len(starts), at_once):
            of_starts.append(slice(at, min(at + at_once, len(starts))))
            wanted.append(Wanted(some, starts[of_starts[-1]], size))
    for portion, its in zip(_read(stored, rows, wanted), of_starts, strict=True):
        yield Pieces(portion.wanted.rows, its, portion.values)


def rows_of(data: Array | Stored, arms: Ints) -> Generator[Rows]:
    """Return whole rows as the kernels take them: an array as it is, a stored matrix in portions."""
    width = data.shape[1]
    if isinstance(data, np.ndarray):
        yield Rows(slice(0, len(arms)), slice(0, width), data, arms)
        return
    unit = data.access.unit_columns
    wanted: list[Wanted] = []
    for some, units in _groups(data, arms, -(-width // unit), unit):
        for start in range(0, width, units * unit):
            size = min(units * unit, width - start)
            wanted.append(Wanted(some, np.array([start]), size))
    for portion in _read(data, arms, wanted):
        values, start = portion.values[:, 0], int(portion.wanted.starts[0])
        columns = slice(start, start + values.shape[1])
        yield Rows(portion.wanted.rows, columns, values, np.arange(len(values)))


def _read(stored: Stored, rows: Ints, wanted: Sequence[Wanted]) -> Iterator[Portion]:
    """Read one portion after the other. Its values are overwritten when the next but one is asked for."""
    if not wanted:
        return
    most = max(_count(one.rows) * len(one.starts) * one.size for one in wanted)
    buffers = [np.empty(most, stored.dtype) for _ in range(min(2, len(wanted)))]

    def read(at: int) -> Portion:
        one = wanted[at]
        shape = (_count(one.rows), len(one.starts), one.size)
        values = buffers[at % 2][: shape[0] * shape[1] * shape[2]]
        if stored.by_column:
            values = values.reshape(shape[1], shape[2], shape[0]).transpose(2, 0, 1)
        else:
            values = values.reshape(shape)
        stored.read(rows[one.rows], one.starts, one.size, values)
        return Portion(one, values)

    if len(wanted) == 1:
        yield read(0)
        return
    with ThreadPoolExecutor(1, "sureshot reading") as ahead:
        coming = ahead.submit(read, 0)
        for at in range(len(wanted)):
            portion = coming.result()
            if at + 1 < len(wanted):
                coming = ahead.submit(read, at + 1)
            yield portion


def _count(some: slice) -> int:
    return int(some.stop - some.start)


def _groups(stored: Stored, rows: Ints, n_pieces: int, size: int) -> Iterator[tuple[slice, int]]:
    """Yield rows that are read together, and how many pieces of each at a time.

    Rows that come together stay together, so that what they share is read once.
    """
    if n_pieces == 0 or not len(rows):
        return
    # All of a unit must be read.
    height = min(stored.stream_rows, stored.shape[0])
    most = max(1, min(BYTES_OF_PORTION // (size * stored.itemsize * height), stored.most_pieces))
    pieces_at_once, units_at_once = min(n_pieces, most), max(1, most // n_pieces)
    ends = np.append(np.flatnonzero(np.diff(stored.units_of(rows))) + 1, len(rows))
    start = 0
    for end in np.unique(np.append(ends[units_at_once - 1 :: units_at_once], len(rows))).tolist():
        for first in range(start, end, ROWS_AT_ONCE):
            yield slice(first, min(first + ROWS_AT_ONCE, end)), pieces_at_once
        start = end
