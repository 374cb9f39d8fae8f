"""Times on a card: of the device, and by the clock on the wall."""

from __future__ import annotations

import os
import statistics
import time
from typing import TYPE_CHECKING, Any

from measurements.gpu.card import torch

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


def warm_up(seconds: float = 0.5) -> None:
    """Keep the card busy until its clocks are up."""
    square = torch.ones(4096, 4096, device="cuda")
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        square @ square
        wait()


def stay_near_the_card() -> int:
    """Stay on the processor from which the card answers fastest: those of a machine differ in their distance to it."""
    number = torch.zeros(1, device="cuda")
    times = {}
    for processor in sorted(os.sched_getaffinity(0)):
        os.sched_setaffinity(0, {processor})
        rounds = []
        for _ in range(50):
            began = time.perf_counter()
            number.add_(1)
            wait()
            rounds.append(time.perf_counter() - began)
        times[processor] = statistics.median(rounds)
    nearest = min(times, key=lambda processor: times[processor])
    os.sched_setaffinity(0, {nearest})
    return nearest


def wait() -> None:
    """Wait for the card without rest: a processor that has slept is slow for a while."""
    done = torch.cuda.Event()
    done.record()
    while not done.query():
        pass


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
    return float(statistics.median(times))


def wall_microseconds(run: Callable[[int], object], repeats: int) -> float:
    """Return the median time of the clock for ``run(i)``, which waits for its result."""
    times = []
    for i in range(repeats):
        flush()
        wait()
        began = time.perf_counter()
        run(i)
        times.append((time.perf_counter() - began) * 1e6)
    return float(statistics.median(times))
