"""A matrix in chunks, each of which is read and unpacked as a whole by the library of its format."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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
        changed: Callable[[], str | None] = lambda: None,
        files: tuple[InFile, ...] | None = None,
    ) -> None:
        self.array = array
        self.name = name
        self.threads = threads
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        self._changed = changed
        self._files = files
        self._chunk_rows = min(chunk[0], self.shape[0])
        self.access = Access(
            REQUEST / threads,
            BYTE,
            ROUND,
            unit_columns=min(chunk[1], self.shape[1]),
            unit_rows=self._chunk_rows,
        )

    def __repr__(self) -> str:
        return f"ChunkedMatrix({self.name!r}, {self.dtype}, {self.shape})"

    def read(self, rows: Ints, starts: Ints, size: int, out: Array) -> None:
        """Fill `out`, (rows, starts, size), with `size` columns of each row from each start on."""

        def copy(piece: tuple[Ints, int]) -> None:
            places, at = piece
            wanted = rows[places]
            first, last, start = int(wanted.min()), int(wanted.max()), int(starts[at])
            values = self.array[first : last + 1, start : start + size]
            out[places, at] = values[wanted - first]

        pieces = [*product(self._in_one_chunk(rows), range(len(starts)))]
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
        columns = min(self._chunk_rows * self.access.unit_columns, max(width // FEWEST_CHUNKS, 1))
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
        owner = rows // self._chunk_rows
        for one in np.unique(owner).tolist():
            yield np.flatnonzero(owner == one)

    def files(self) -> tuple[InFile, ...] | None:
        """Return the files that have all the numbers; None if they are not known."""
        return self._files

    def check_unchanged(self) -> None:
        """Raise `StorageError` if the storage is known to have changed since it was opened."""
        changed = self._changed()
        if changed:
            raise StorageError(f"{self.name} has changed while it was searched: {changed}")
