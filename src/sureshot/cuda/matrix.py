"""What is kept of a matrix on a device between searches: norms, buffers and compiled kernels."""

from __future__ import annotations

import threading
import weakref
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.cuda import compiler, driver, plan
from sureshot.cuda import rounding as constants

if TYPE_CHECKING:
    from sureshot._types import Floats
    from sureshot.cuda.arrays import DeviceArray
    from sureshot.cuda.driver import Device

# The memory that a search takes on the device, in bytes, or as a share of the data if that is more.
MOST_MEMORY = 256 << 20
MOST_SHARE = 0.01

CHUNK_BYTES = 16


@cache
def module(device: int, purpose: str, row: str, query: str, metric: str, *, aligned: bool) -> Any:
    """Return the kernels that measure or search such data, loaded on a device."""
    on = driver.device(device)
    major, minor = on.capability
    names = compiler.definitions(row, query, metric, aligned=aligned)
    with on.current():
        return driver.load(compiler.compiled(f"sm_{major}{minor}", names, purpose))


class Norms:
    """Squared norms of the rows of a matrix, or of upper bounds of them, on the device and on the host."""

    def __init__(
        self,
        squares: Floats,
        on: Device,
        words: str,
        *,
        exact: bool,
        equal: bool,
        rounding: float,
        tops: Floats | None = None,
    ) -> None:
        self.squares = squares
        self.words = words  # what it rests on that they are right
        self.rounding = rounding  # by how much of itself a norm may be off
        self.exact = exact  # they are the norms, and not just upper bounds
        self.equal = equal  # one bound for all rows: nothing is known of which are longer
        self.tops = tops  # no value of a row is larger, if that is known
        self.bounds: Any = None  # what they were made of, if that is kept
        self.largest = float(np.sqrt(squares.max()))
        self.memory = driver.upload(on, squares)
        self._grids: driver.Memory | None = None

    def grids(self, on: Device) -> driver.Memory:
        """Return what values of each row are multiplied with before they are rounded to whole numbers of 16 bits."""
        assert self.tops is not None, "only where the largest values are known"
        if self._grids is None:
            with np.errstate(divide="ignore"):
                grids = np.minimum(constants.MOST_NUMBER / self.tops, constants.MOST_GRID)
            self._grids = driver.upload(on, grids.astype(np.float32))
        return self._grids


class DeviceMatrix:
    """A matrix on a device, with what was made for earlier searches of it."""

    def __init__(self, array: DeviceArray) -> None:
        # Of the array nothing is kept that would keep its memory.
        self.pointer, self.shape, self.strides = array.pointer, array.shape, array.strides
        self.dtype, self.itemsize = array.dtype, array.itemsize
        self.device = driver.device(array.device)
        self.changes = array.changes
        self.norms: dict[Any, Norms] = {}
        self.searches: dict[Any, Any] = {}
        self.lock = threading.RLock()  # searches share their memory

    def fits(self, array: DeviceArray) -> bool:
        """Return whether this is still the same matrix, as far as that can be seen."""
        return (
            self.pointer == array.pointer
            and self.shape == array.shape
            and self.strides == array.strides
            and self.changes == array.changes
            and self.dtype == array.dtype
        )

    def keep(self, key: Any, search: Any) -> None:
        """Keep a search for later calls; the oldest go if all together take too much memory."""
        while (
            self.searches
            and search.memory + sum(one.memory for one in self.searches.values()) > self.most_memory
        ):
            del self.searches[next(iter(self.searches))]
        self.searches[key] = search

    @property
    def by_column(self) -> bool:
        """Whether the values of a column lie side by side, and not those of a row."""
        return self.strides[1] != 1 and self.shape[1] > 1

    @property
    def aligned(self) -> bool:
        """Whether every row begins and ends at a whole chunk of 16 bytes."""
        if self.by_column:
            return False
        sizes = (self.pointer, self.strides[0] * self.itemsize, self.shape[1] * self.itemsize)
        return all(size % CHUNK_BYTES == 0 for size in sizes)

    @property
    def small(self) -> bool:
        """Whether reading all of it takes no longer than a race."""
        rows, width = self.shape
        return rows * width * self.itemsize <= plan.SMALL_BYTES

    @property
    def most_memory(self) -> int:
        """The bytes that a search may take."""
        rows, width = self.shape
        return max(MOST_MEMORY, int(MOST_SHARE * rows * width * self.itemsize))


_known: dict[int, tuple[weakref.ref[Any], DeviceMatrix]] = {}


def matrix_of(data: Any, array: DeviceArray) -> DeviceMatrix:
    """Return what is kept of an array, made anew if the array was changed; it goes with the array."""
    key = id(data)
    found = _known.get(key)
    if found is not None and found[0]() is data and found[1].fits(array):
        return found[1]
    made = DeviceMatrix(array)
    try:
        reference = weakref.ref(data, lambda _: _known.pop(key, None))
    except TypeError:
        return made  # of an array that nothing can refer to weakly nothing is kept
    _known[key] = (reference, made)
    return made
