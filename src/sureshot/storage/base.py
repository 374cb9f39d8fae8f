"""What a stored matrix is: a matrix that is read in pieces, and what that costs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot.storage.matrix import Matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array, Ints


@dataclass(frozen=True, slots=True)
class Access:
    """What it costs to read a storage, in nanoseconds, and in which units it is read.

    Only the ratios matter, to each other and to the costs of memory.
    """

    request: float  # a unit that does not follow the last one, besides its bytes
    byte: float  # a byte of a stream
    round: float  # a call, however little it asks for
    unit_columns: int  # columns that come together
    unit_rows: int = 1  # rows that come together


@dataclass(frozen=True, slots=True)
class Layout:
    """Another way in which the same numbers could be stored, in words, and what it would cost to read it."""

    words: str
    access: Access


class Stored(Matrix):
    """A matrix of n rows and N columns, read in pieces. It never holds more than what was asked for."""

    access: Access
    # Whether columns are contiguous, so that `read` is quickest where those of `out` are.
    by_column = False
    # Pieces that are asked for at a time: what is being read cannot be interrupted, and should take less than a second.
    most_pieces = 1 << 13

    @abstractmethod
    def read(self, rows: Ints, starts: Ints, size: int, out: Array) -> None:
        """Fill `out`, (rows, starts, size), with `size` columns of each row from each start on.

        Several threads may read at a time. Raises `StorageError` if anything cannot be read.
        """

    def units_of(self, rows: Ints) -> Ints:
        """Return a number for each row, the same for those that come together."""
        return rows // self.stream_rows

    @property
    def stream_rows(self) -> int:
        """How many rows are best read together where all are wanted."""
        return self.access.unit_rows

    def other_layouts(self) -> Sequence[Layout]:
        """Return layouts that cost less where little is read of many rows, the one most like this first."""
        return ()

    @property
    def unit_columns(self) -> int:
        """How many columns are read together."""
        return self.access.unit_columns

    def __getitem__(self, row: int) -> Array:
        """Return one whole row."""
        out = np.empty((1, 1, self.shape[1]), self.dtype)
        self.read(np.array([row]), np.zeros(1, np.int64), self.shape[1], out)
        whole: Array = out[0, 0]
        return whole
