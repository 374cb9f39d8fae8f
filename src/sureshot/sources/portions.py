"""Data in portions that fit into memory: the next one is read while the last one is added up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sureshot._types import Array, Ints
    from sureshot.storage.base import Stored

# Bytes of a portion, or one row if that is more: two of them are in memory at a time.
BYTES_OF_PORTION = 1 << 25


@dataclass(frozen=True, slots=True)
class Portion:
    """Some pieces of some rows."""

    rows: slice  # of those that were asked for
    starts: slice
    values: Array  # (rows, starts, size)


def portions(stored: Stored, rows: Ints, starts: Ints, size: int) -> Iterator[Portion]:
    """Read `size` columns of each row from each start on.

    The values of a portion are overwritten when the next but one is asked for.
    """
    wanted = _cut(len(rows), len(starts), size * stored.itemsize)
    if not wanted:
        return
    most = max(_count(ours) * _count(theirs) for ours, theirs in wanted)
    buffers = [np.empty(most * size, stored.dtype) for _ in range(min(2, len(wanted)))]

    def read(at: int) -> Portion:
        ours, theirs = wanted[at]
        shape = (_count(ours), _count(theirs), size)
        values = buffers[at % 2][: shape[0] * shape[1] * size].reshape(shape)
        stored.read(rows[ours], starts[theirs], size, values)
        return Portion(ours, theirs, values)

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


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows, whole, in memory."""

    places: slice  # among those that were asked for
    values: Array
    arms: Ints  # where they lie in `values`


def rows_of(data: Array | Stored, arms: Ints) -> Iterator[Rows]:
    """Return whole rows as the kernels take them: an array as it is, a stored matrix in portions."""
    if isinstance(data, np.ndarray):
        yield Rows(slice(0, len(arms)), data, arms)
        return
    for portion in portions(data, arms, np.zeros(1, np.int64), data.shape[1]):
        values = portion.values[:, 0]
        yield Rows(portion.rows, values, np.arange(len(values)))


def _count(some: slice) -> int:
    return int(some.stop - some.start)


def _cut(n_rows: int, n_starts: int, piece_bytes: int) -> Sequence[tuple[slice, slice]]:
    """Return which rows and which pieces of them make each portion."""
    pieces = max(1, BYTES_OF_PORTION // piece_bytes)
    starts_at_once = min(n_starts, pieces)
    if starts_at_once == 0:
        return []
    rows_at_once = max(1, pieces // starts_at_once)
    return [
        (slice(row, min(row + rows_at_once, n_rows)), slice(at, min(at + starts_at_once, n_starts)))
        for row in range(0, n_rows, rows_at_once)
        for at in range(0, n_starts, starts_at_once)
    ]
