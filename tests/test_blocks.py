"""Blocks: which coordinates are pulled as one, and where they begin in memory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sureshot.blocks import Blocks
from sureshot.prepare.block_size import choose_blocks
from sureshot.search.methods import METHODS


@pytest.mark.parametrize(
    ("size", "shift"), [(1, 0), (4, 0), (4, 3), (16, 12), (200, 0), (200, 150)]
)
@pytest.mark.parametrize("width", [1, 4, 97, 128])
def test_blocks_cut_a_row_into_pieces(size: int, shift: int, width: int) -> None:
    blocks = Blocks(width, min(size, width), min(shift, min(size, width) - 1))
    spans = [blocks.span(block) for block in range(blocks.count)]
    assert spans[0][0] == 0
    assert spans[-1][1] == width
    assert all(stop == start for (_, stop), (start, _) in itertools.pairwise(spans))
    assert all(0 < stop - start <= blocks.size for start, stop in spans)
    values = np.arange(width, dtype=np.float64)
    expected = [values[start:stop].sum() for start, stop in spans]
    np.testing.assert_array_equal(blocks.sums(values), expected)


@pytest.mark.parametrize("offset", [0, 16, 40, 48])
def test_blocks_of_large_arrays_begin_with_a_cache_line(offset: int) -> None:
    n_arms, width = 9, 1 << 20
    memory = np.zeros(n_arms * width * 4 + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    data = memory[start : start + n_arms * width * 4].view(np.float32).reshape(n_arms, width)
    blocks = choose_blocks(data, None, METHODS["betting"])
    assert blocks.size == 16
    for block in (1, 2, blocks.count - 1):
        begin, _ = blocks.span(block)
        assert (data.ctypes.data + 4 * begin) % 64 == 0
    # A small array may lie anywhere, and a search should not depend on that.
    assert choose_blocks(data[:2], None, METHODS["betting"]).shift == 0
    assert choose_blocks(data[:, 1:], None, METHODS["betting"]).shift in range(16)
    assert choose_blocks(data, 3, METHODS["betting"]).shift == 0
