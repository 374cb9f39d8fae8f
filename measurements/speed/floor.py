"""The floor of a search: the time in which memory gives all that the search has read.

Lines that lie far from each other take longer than a stream: each has a page of its own. In row-major order the
sampled blocks are such lines, and the rows that are evaluated exactly are a stream. In coordinate-major order it is the
other way round: a row that is evaluated has a line in every column, and the numbers sampled of a column lie side
by side, at least while most rows are sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from measurements.speed.bandwidth import LINE
from sureshot.prepare.block_size import first_block_shift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from measurements.speed.bandwidth import Memory
    from sureshot.result import Work


@dataclass(frozen=True)
class Part:
    """What one part of a search reads: scattered lines, and bytes of a stream."""

    lines: float = 0.0
    streamed: float = 0.0

    @property
    def bytes_read(self) -> float:
        """All bytes that memory gives."""
        return self.streamed + LINE * self.lines

    def seconds(self, memory: Memory) -> float:
        """Return the time that memory takes."""
        return self.lines * memory.line_seconds + self.streamed / memory.bandwidth


@dataclass(frozen=True)
class Traffic:
    """What a search reads to sample rows, and to evaluate some of them exactly."""

    sampling: Part
    evaluation: Part

    @property
    def bytes_read(self) -> float:
        """All bytes that memory gives."""
        return self.sampling.bytes_read + self.evaluation.bytes_read

    def seconds(self, memory: Memory) -> float:
        """Return the floor."""
        return self.sampling.seconds(memory) + self.evaluation.seconds(memory)


def traffic(work: Work, data: NDArray[Any], memory: Memory) -> Traffic:
    """Return what memory gives for a search, or for several whose work was added up.

    Of coordinate-major data the work does not say which of the sampled numbers shared a line: they count as a
    stream, which is too little where few rows of a column were sampled. Where a stream of all the data takes less time
    than the lines, or fewer bytes, it counts instead.
    """
    whole = data.itemsize * min(work.numbers_read, work.exact_scores * data.shape[1])
    sampled = data.itemsize * work.numbers_read - whole
    if data.flags.c_contiguous:
        lines = sampled / LINE * _lines_per_block_of(data)
        scattered = Traffic(Part(lines=lines), Part(streamed=whole))
    else:
        scattered = Traffic(Part(streamed=sampled), Part(lines=whole / data.itemsize))
    everything = max(data.itemsize * work.numbers_read, data.nbytes)
    streamed = Traffic(Part(streamed=sampled), Part(streamed=everything - sampled))
    slower = scattered.seconds(memory) >= streamed.seconds(memory)
    return streamed if slower or scattered.bytes_read > everything else scattered


def _lines_per_block_of(data: NDArray[Any]) -> float:
    shift = first_block_shift(data, LINE // data.itemsize)
    return lines_per_block(data.ctypes.data - shift * data.itemsize, data.strides[0])


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
