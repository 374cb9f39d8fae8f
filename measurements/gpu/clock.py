"""Times on a card: of the device, and by the clock on the wall."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

# More than the second cache holds.
FLUSHED_NUMBERS = 64 << 20
# Cycles that the card sleeps, so that launches wait for it and not it for them.
SLEEP = 600_000

_flushed: list[Any] = []


def flush() -> None:
    """Fill the card's cache with something else, by reading: written lines would have to go first."""
    if not _flushed:
        _flushed.append(torch.zeros(FLUSHED_NUMBERS, device="cuda"))
    _flushed[0].sum()


def device_microseconds(run: Callable[[int], object], repeats: int) -> float:
    """Return the median time of the device for ``run(i)``, which only launches."""
    times = []
    for i in range(repeats):
        flush()
        torch.cuda._sleep(SLEEP)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run(i)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def wall_microseconds(run: Callable[[int], object], repeats: int) -> float:
    """Return the median time of the clock for ``run(i)``, which waits for its result."""
    times = []
    for i in range(repeats):
        flush()
        torch.cuda.synchronize()
        began = time.perf_counter()
        run(i)
        times.append((time.perf_counter() - began) * 1e6)
    return statistics.median(times)
