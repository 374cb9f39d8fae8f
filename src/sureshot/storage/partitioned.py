"""A matrix whose partitions lie in other processes or machines: functions go there, and small results come back."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.errors import StorageError
from sureshot.storage.matrix import Matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sureshot._types import Array, Ints

# Columns that are read together: a cache line of the usual types.
UNIT_BYTES = 64


@dataclass(frozen=True, slots=True)
class Place:
    """Which rows and columns of the matrix a partition has."""

    first_row: int
    last_row: int  # the one after it
    first_column: int
    last_column: int

    @property
    def columns(self) -> tuple[int, int]:
        """The first column, and the one after the last."""
        return self.first_column, self.last_column


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the values of a partition and of some small arguments, which has no state."""

    partition: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Partitioned(Matrix):
    """A matrix in partitions. `round` is what a set of calls costs besides their work, in nanoseconds."""

    places: Sequence[Place]
    round: float

    @abstractmethod
    def run(self, calls: Sequence[Call]) -> list[Any]:
        """Run the calls where their partitions are, and return what they return, in their order.

        A call that is lost with its worker is run again. Raises `StorageError` if that is not possible.
        """

    def owners(self, rows: Ints) -> Iterator[tuple[int, Place, Ints]]:
        """Yield each partition that has some of these rows, and their positions."""
        for at, place in enumerate(self.places):
            positions = np.flatnonzero((rows >= place.first_row) & (rows < place.last_row))
            if len(positions) and place.first_column < place.last_column:
                yield at, place, positions

    @property
    def unit_columns(self) -> int:
        """How many columns are read together."""
        return min(UNIT_BYTES // self.itemsize, self.shape[1])

    def __getitem__(self, row: int) -> Array:
        """Return one whole row."""
        calls = [
            Call(at, _row, (row - place.first_row,))
            for at, place in enumerate(self.places)
            if place.first_row <= row < place.last_row
        ]
        return np.concatenate(self.run(calls))

    def check_unchanged(self) -> None:
        """Do nothing: partitions are what their recipes make them."""


def _row(values: Array, row: int) -> Array:
    return np.array(values[row])


def as_values(values: Any, place: Place, dtype: np.dtype[Any]) -> Array:
    """Return the values of a partition; refuse what is not what was said of it."""
    shape = (place.last_row - place.first_row, place.last_column - place.first_column)
    is_array = isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray)
    if not is_array or values.shape != shape or values.dtype != dtype:
        raise StorageError(
            f"a partition must be a numpy array of {dtype} of shape {shape}, "
            f"got {type(values).__name__} {getattr(values, 'dtype', '')} {getattr(values, 'shape', '')}"
        )
    found: Array = values
    return found
