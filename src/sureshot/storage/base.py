"""What a stored matrix is: a shape, a type, what reading costs, and pieces of its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints


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


class Stored(ABC):
    """A matrix of n rows and N columns, read in pieces. It never holds more than what was asked for."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    access: Access
    # What the products with each column count, where parts of the columns have a weight.
    column_weights: Floats | None = None
    ndim = 2

    @abstractmethod
    def read(self, rows: Ints, starts: Ints, size: int, out: Array) -> None:
        """Fill `out`, (rows, starts, size), with `size` columns of each row from each start on.

        Several threads may read at a time. Raises `StorageError` if anything cannot be read.
        """

    @abstractmethod
    def check_unchanged(self) -> None:
        """Raise `StorageError` if the storage is known to have changed since it was opened."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, row: int) -> Array:
        """Return one whole row."""
        out = np.empty((1, 1, self.shape[1]), self.dtype)
        self.read(np.array([row]), np.zeros(1, np.int64), self.shape[1], out)
        whole: Array = out[0, 0]
        return whole

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers."""
        return self.shape[0] * self.shape[1] * self.itemsize
