"""How fast memory can be read at most: as a stream, and in lines that lie far from each other."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

LINE = 64  # bytes that memory gives at once
PASSES = 5
# So many that giving the threads their parts does not count.
LINES_FETCHED = 1 << 20


@dataclass(frozen=True)
class Memory:
    """The bytes per second of a stream, and the seconds per line of lines that are scattered."""

    bandwidth: float
    line_seconds: float


def measure(data: NDArray[Any], threads: int) -> Memory:
    """Return how fast the data can be read, the fastest of some passes each."""
    flat = data.ravel(order="K").view(np.uint8)
    words = flat[: len(flat) // 8 * 8].view(np.uint64)
    return Memory(_bandwidth(words, threads), _line_seconds(words, threads))


def _bandwidth(words: NDArray[np.uint64], threads: int) -> float:
    """Return the bytes per second of sequential reads of all the data.

    The largest of 64-bit integers costs the least arithmetic of all that numpy offers: a plain
    float32 sum is slower than memory.
    """
    parts = np.array_split(words, threads)
    return words.nbytes / min(_seconds(np.max, parts, threads) for _ in range(PASSES))


def _line_seconds(words: NDArray[np.uint64], threads: int) -> float:
    """Return the seconds per line of reads of one word each from lines anywhere in the data."""
    step = LINE // words.itemsize
    rng = np.random.default_rng(0)
    seconds = []
    for _ in range(PASSES):
        places = step * rng.integers(0, -(-len(words) // step), LINES_FETCHED)
        # Clipping needs no pass over the places before the reads, and none is outside.
        fetch = partial(np.take, words, mode="clip")
        seconds.append(_seconds(fetch, np.array_split(places, threads), threads))
    return min(seconds) / LINES_FETCHED


def _seconds(
    read: Callable[[NDArray[Any]], object], parts: Iterable[NDArray[Any]], threads: int
) -> float:
    """Return how long the threads take to read all parts."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(int, range(threads)))  # the threads are there before the clock starts
        started = time.perf_counter()
        list(pool.map(read, parts))
        return time.perf_counter() - started
