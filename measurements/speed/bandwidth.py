"""How fast memory can be read at most, and what that means for a search.

The floor of a search is the time that reading its bytes takes at that speed, and the reached fraction
is the floor over the time that it took.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.prepare.block_size import first_block_shift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sureshot.result import Work

LINE = 64  # bytes that memory gives at once
PASSES = 5


def measure(data: NDArray[Any], threads: int) -> float:
    """Return the bytes per second of the fastest of some sequential reads of all the data.

    The largest of 64-bit integers costs the least arithmetic of all that numpy offers: a plain
    float32 sum is slower than memory.
    """
    flat = data.ravel(order="K").view(np.uint8)
    words = flat[: len(flat) // 8 * 8].view(np.uint64)
    parts = np.array_split(words, threads)
    seconds = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(PASSES):
            started = time.perf_counter()
            list(pool.map(np.max, parts))
            seconds.append(time.perf_counter() - started)
    return words.nbytes / min(seconds)


def lines_per_block(address: int, stride: int) -> float:
    """Return how many lines a block of one line's length touches on average.

    One if `address`, where the blocks of the first row begin, and the `stride` from row to row are
    multiples of a line, two if they are not.

    Examples
    --------
    >>> lines_per_block(4096, 6400), lines_per_block(4096 + 16, 6400), lines_per_block(0, 32)
    (1.0, 2.0, 1.5)
    """
    return float(np.mean([1 + ((address + row * stride) % LINE > 0) for row in range(LINE)]))


def bytes_read(work: Work, data: NDArray[Any]) -> float:
    """Return how many bytes memory had to give for a search.

    In row-major order these are whole lines: a block has the length of a line and touches one or
    two, though never more than there are. Rows that were evaluated exactly are read from end to end.
    In coordinate-major order it is the numbers alone, because the work does not say which of them
    shared a line: too few where few rows of a column were read.
    """
    whole = min(work.numbers_read, work.exact_scores * data.shape[1])
    in_blocks = work.numbers_read - whole
    lines = 1.0
    if data.flags.c_contiguous:
        size = LINE // data.itemsize
        shift = first_block_shift(data, size)
        lines = lines_per_block(data.ctypes.data - shift * data.itemsize, data.strides[0])
    numbers = whole + lines * in_blocks
    return float(data.itemsize * min(numbers, max(work.numbers_read, data.size)))
