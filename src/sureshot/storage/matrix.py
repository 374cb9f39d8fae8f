"""What every matrix outside of this process's memory has: a shape, a type, and a way to read a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from sureshot._types import Array, Floats


class InFile(NamedTuple):
    """Numbers that lie in a file, or in all files of a folder."""

    path: Path
    where: str  # which of its numbers


class Matrix(ABC):
    """A matrix of n rows and N columns that is not an array."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    # What the products with each column count, where parts of the columns have a weight.
    column_weights: Floats | None = None
    ndim = 2

    @property
    @abstractmethod
    def unit_columns(self) -> int:
        """How many columns are read together."""

    @abstractmethod
    def __getitem__(self, row: int) -> Array:
        """Return one whole row."""

    @abstractmethod
    def check_unchanged(self) -> None:
        """Raise `StorageError` if the data is known to have changed since it was opened."""

    def files(self) -> tuple[InFile, ...] | None:
        """Return the files that have all the numbers; None if they are not known."""
        return None

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers."""
        return self.shape[0] * self.shape[1] * self.itemsize
