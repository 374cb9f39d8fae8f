"""A matrix in chunks, each of which is read and unpacked as a whole by the library of its format."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.errors import StorageError
from sureshot.storage.base import Access, Layout, Stored
from sureshot.storage.file import file_access

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sureshot._types import Array, Ints
    from sureshot.storage.matrix import InFile

# To read and unpack a chunk besides its bytes, a byte, and a call, in nanoseconds.
REQUEST = 500_000.0
BYTE = 1.0
ROUND = 1_000_000.0

# Chunks that a row should have at least: a search draws some tens of them.
FEWEST_CHUNKS = 256

# Chunks that each thread reads before a search can be interrupted: they may be far away.
CHUNKS_OF_THREAD = 8

# Bytes of the chunks that are read at a time, but at least one chunk.
BYTES_AT_ONCE = 1 << 27


@dataclass(frozen=True, slots=True)
class Wanted:
    """Columns of a chunk, and the pieces they are copied to."""

    first: int
    last: int  # the one after it
    copies: list[
        tuple[int, int, int, int]
    ]  # which start, from where in it, from which column on, how many


class ChunkedMatrix(Stored):
    """An array-like object whose chunks have `chunk` rows and columns.

    `threads` read at a time, if its library allows that. `changed` says what has changed since it was opened, and
    `files` have all the numbers, if they are known.
    """

    def __init__(
        self,
        array: Any,
        chunk: tuple[int, int],
        *,
        name: str,
        threads: int = 1,
        changed: Callable[[], str | None] | None = None,
        files: tuple[InFile, ...] | None = None,
    ) -> None:
        self.array = array
        self.name = name
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        self._changed = changed
        self._files = files
        # An empty matrix is refused later, by the check of all data.
        self._chunk = (max(1, min(chunk[0], self.shape[0])), max(1, min(chunk[1], self.shape[1])))
        bytes_of_chunk = self._chunk[0] * self._chunk[1] * self.dtype.itemsize
        self.threads = max(1, min(threads, BYTES_AT_ONCE // bytes_of_chunk))
        self.most_pieces = CHUNKS_OF_THREAD * self.threads
        self.access = Access(
            REQUEST / self.threads,
            BYTE,
            ROUND,
            unit_columns=self._chunk[1],
            unit_rows=self._chunk[0],
        )

    def __repr__(self) -> str:
        return f"ChunkedMatrix({self.name!r}, {self.dtype}, {self.shape})"

    def read(self, rows: Ints, starts: Ints, size: int, out: Array) -> None:
        """Fill `out`, (rows, starts, size), with `size` columns of each row from each start on."""

        def copy(piece: tuple[Ints, Wanted]) -> None:
            places, columns = piece
            wanted = rows[places]
            first, last = int(wanted.min()), int(wanted.max())
            values = self.array[first : last + 1, columns.first : columns.last]
            for at, inside, column, count in columns.copies:
                found = values[:, column - columns.first : column - columns.first + count]
                out[places, at, inside : inside + count] = found[wanted - first]

        pieces = [*product(self._in_one_chunk(rows), self._columns(starts, size))]
        try:
            if self.threads == 1 or len(pieces) == 1:
                for piece in pieces:
                    copy(piece)
            else:
                with ThreadPoolExecutor(self.threads, "sureshot chunks") as pool:
                    list(pool.map(copy, pieces))
        except Exception as error:
            raise StorageError(f"{self.name} cannot be read: {error}") from error

    def other_layouts(self) -> list[Layout]:
        """Return chunks of one row, of as many bytes as long as a row has enough of them, and no chunks at all."""
        width = self.shape[1]
        columns = min(self._chunk[0] * self.access.unit_columns, max(width // FEWEST_CHUNKS, 1))
        columns = max(columns, min(self.access.unit_columns, width))
        return [
            Layout(
                f"chunks of 1 × {columns:,} numbers",
                replace(self.access, unit_columns=columns, unit_rows=1),
            ),
            Layout("a file without chunks", file_access(width, self.itemsize)),
        ]

    def _in_one_chunk(self, rows: Ints) -> Iterator[Ints]:
        """Yield the places of the rows that lie in the same chunks."""
        owner = rows // self._chunk[0]
        order = np.argsort(owner, kind="stable")
        yield from np.split(order, np.flatnonzero(np.diff(owner[order])) + 1)

    def _columns(self, starts: Ints, size: int) -> list[Wanted]:
        """Return the columns that are wanted of each chunk: no chunk is read twice for two of the pieces."""
        width = self._chunk[1]
        found: dict[int, list[tuple[int, int, int, int]]] = {}
        for at, start in enumerate(starts.tolist()):
            column, stop = start, start + size
            while column < stop:
                chunk = column // width
                count = min(stop, (chunk + 1) * width) - column
                found.setdefault(chunk, []).append((at, column - start, column, count))
                column += count
        return [
            Wanted(min(one[2] for one in copies), max(one[2] + one[3] for one in copies), copies)
            for copies in found.values()
        ]

    def files(self) -> tuple[InFile, ...] | None:
        """Return the files that have all the numbers; None if they are not known."""
        return self._files

    def check_unchanged(self) -> None:
        """Raise `StorageError` if the storage is known to have changed since it was opened."""
        changed = None if self._changed is None else self._changed()
        if changed:
            raise StorageError(f"{self.name} has changed while it was searched: {changed}")
