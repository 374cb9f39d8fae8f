from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from measurements.speed import floor
from measurements.speed.bandwidth import LINE, Memory
from sureshot.result import Work

# A line takes twice as long as its bytes in a stream.
MEMORY = Memory(bandwidth=64e9, line_seconds=2e-9)


def work(numbers_read: int, exact_scores: int) -> Work:
    return Work(numbers_read, 0.0, 0, 1, exact_scores, 0.0)


def array(offset: int, order: Any = "C") -> Any:
    """Return 100 rows of 640 float32 that begin `offset` bytes after the beginning of a line."""
    memory = np.zeros(100 * 640 * 4 + 2 * LINE, dtype=np.uint8)
    start = -memory.ctypes.data % LINE + offset
    flat = memory[start : start + 100 * 640 * 4].view(np.float32)
    return flat.reshape((100, 640), order=order)


@pytest.mark.parametrize(("offset", "lines"), [(0, 1), (16, 2)])
def test_blocks_are_scattered_lines_and_rows_a_stream(offset: int, lines: int) -> None:
    # Three rows from end to end, and ten blocks of 16.
    found = floor.traffic(work(3 * 640 + 160, 3), array(offset), MEMORY)
    assert found.sampling == floor.Part(lines=10 * lines)
    assert found.evaluation == floor.Part(streamed=4 * 3 * 640)
    assert found.bytes_read == 4 * (3 * 640 + lines * 160)
    assert found.seconds(MEMORY) == pytest.approx(10 * lines * 2e-9 + 4 * 3 * 640 / 64e9)


def test_by_column_it_is_the_other_way_round() -> None:
    found = floor.traffic(work(3 * 640 + 700, 3), array(16, "F"), MEMORY)
    assert found.sampling == floor.Part(streamed=4 * 700)
    assert found.evaluation == floor.Part(lines=3 * 640)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("asked", [work(60_000, 0), work(60_000, 90)])
def test_a_stream_of_everything_is_never_slower(order: Any, asked: Work) -> None:
    found = floor.traffic(asked, array(16, order), MEMORY)
    assert found.seconds(MEMORY) <= (1 + 1e-9) * 4 * 64_000 / 64e9
    assert found.bytes_read <= 4 * 64_000


def test_never_more_lines_than_there_are() -> None:
    # In a cache scattered lines can be faster than a stream from memory.
    cached = Memory(bandwidth=64e9, line_seconds=1e-12)
    assert floor.traffic(work(60_000, 0), array(16), cached).bytes_read == 4 * 64_000


@pytest.mark.parametrize("order", ["C", "F"])
def test_several_queries_may_read_more_than_there_is(order: Any) -> None:
    found = floor.traffic(work(3 * 64_000, 300), array(16, order), MEMORY)
    assert found.bytes_read == 3 * 4 * 64_000
