from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from measurements.speed import bandwidth
from sureshot.result import Work


def work(numbers_read: int, exact_scores: int) -> Work:
    return Work(numbers_read, 0.0, 0, 1, exact_scores, 0.0)


def array(offset: int, order: Any = "C") -> Any:
    """Return 100 rows of 640 float32 that begin `offset` bytes after the beginning of a line."""
    memory = np.zeros(100 * 640 * 4 + 2 * bandwidth.LINE, dtype=np.uint8)
    start = -memory.ctypes.data % bandwidth.LINE + offset
    flat = memory[start : start + 100 * 640 * 4].view(np.float32)
    return flat.reshape((100, 640), order=order)


@pytest.mark.parametrize(("offset", "lines"), [(0, 1), (16, 2)])
def test_blocks_count_whole_lines(offset: int, lines: int) -> None:
    # Three rows from end to end, and ten blocks of 16.
    read = bandwidth.bytes_read(work(3 * 640 + 160, 3), array(offset))
    assert read == 4 * (3 * 640 + lines * 160)


def test_coordinates_count_as_they_are() -> None:
    assert bandwidth.bytes_read(work(700, 0), array(16, "F")) == 4 * 700


def test_never_more_lines_than_there_are() -> None:
    assert bandwidth.bytes_read(work(60_000, 0), array(16)) == 4 * 64_000


def test_several_queries_may_read_more_than_there_is() -> None:
    assert bandwidth.bytes_read(work(3 * 64_000, 300), array(16)) == 3 * 4 * 64_000


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
def test_any_array_can_be_measured(dtype: Any, order: Any) -> None:
    assert bandwidth.measure(np.zeros((97, 1535), dtype=dtype, order=order), threads=2) > 0
