"""The demo: sureshot and numpy on the same data in the same run."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import sureshot

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from sureshot import Bounds, TopK

Answer = TypeVar("Answer")

K = 10
# Rows that follow a few hidden patterns and differ in size, as embeddings, ratings and gradients do.
RANK = 20
NOISE = np.float32(0.3)  # standard deviation, next to patterns of 1
SPREAD = 0.7  # of the logarithms of the sizes: one row in twenty is more than three times the usual
# Numbers made at a time: 16 MB, so that peak memory is hardly more than the data.
NUMBERS_PER_CHUNK = 1 << 22
REPETITIONS = 3

# The lines of the comparison that the text around it mentions.
NUMPY = "numpy, data @ query"
SCAN = "sureshot.scan, once"
SCANNED = "betting, scanned"


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """Data of low rank plus noise, a query, their limits and their true ranks."""

    data: npt.NDArray[np.float32]
    query: npt.NDArray[np.float32]
    bounds: tuple[float, float]
    true_ranks: npt.NDArray[np.int64]  # of each row, from 1, by scores in double precision


@dataclass(frozen=True, slots=True)
class Timed:
    """One line of the comparison."""

    label: str
    seconds: tuple[float, ...]
    numbers_read: int
    share: float
    right: int | None  # None for the scan, which returns no rows
    result: TopK | None  # None for the scan and for numpy, which gives no certificate

    @property
    def median_seconds(self) -> float:
        """The time that is shown."""
        return statistics.median(self.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dictionary ready for JSON."""
        return {
            "label": self.label,
            "seconds": list(self.seconds),
            "median_seconds": self.median_seconds,
            "numbers_read": self.numbers_read,
            "share": self.share,
            "right": self.right,
            "result": None if self.result is None else self.result.to_dict(),
        }


def make_example(rows: int, columns: int, seed: int) -> Example:
    """Mix every row and the query from the same few patterns, add noise, and scale the rows."""
    # First, so that a size that is too large fails at once.
    data = np.empty((rows, columns), dtype=np.float32)
    rng = np.random.default_rng(seed)
    patterns = rng.standard_normal((RANK, columns), dtype=np.float32) / np.float32(RANK**0.5)
    mixes = rng.standard_normal((rows + 1, RANK), dtype=np.float32)
    sizes = rng.lognormal(0.0, SPREAD, (rows, 1)).astype(np.float32)
    query = mixes[rows] @ patterns + NOISE * rng.standard_normal(columns, dtype=np.float32)

    scores = np.empty(rows)
    low, high = np.inf, -np.inf
    step = max(1, NUMBERS_PER_CHUNK // columns)
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        chunk = data[part]
        rng.standard_normal(dtype=np.float32, out=chunk)
        chunk *= NOISE
        chunk += mixes[part] @ patterns
        chunk *= sizes[part]
        low, high = min(low, float(chunk.min())), max(high, float(chunk.max()))
        scores[part] = chunk.astype(np.float64) @ query.astype(np.float64)
    true_ranks = np.empty(rows, dtype=np.int64)
    true_ranks[np.argsort(-scores, kind="stable")] = np.arange(1, rows + 1)
    return Example(data, query, (low, high), true_ranks)


def searches(example: Example, scanned: Bounds) -> dict[str, dict[str, Any]]:
    """Return the searches to compare with numpy: labels and arguments of `top_k`."""
    return {
        SCANNED: {"bounds": scanned},
        "betting, limits": {"bounds": example.bounds},
        "betting, no bounds": {},
        "bounded-me, limits": {"method": "bounded-me", "bounds": example.bounds},
        "exact": {"method": "exact"},
    }


def compare(example: Example, seed: int, announce: Callable[[str], object]) -> list[Timed]:
    """Time numpy, a scan and every search; `announce` is called with the one that is running."""
    data, query = example.data, example.query
    announce("timing numpy")
    seconds, best = _timed(lambda: _numpy_top(data, query))
    lines = [Timed(NUMPY, seconds, data.size, 1.0, _right(example, best), None)]
    announce("scanning")
    started = time.perf_counter()
    scanned = sureshot.scan(data)
    lines.append(Timed(SCAN, (time.perf_counter() - started,), data.size, 1.0, None, None))
    for label, arguments in searches(example, scanned).items():
        announce(f"timing {label}")

        def search(arguments: dict[str, Any] = arguments) -> TopK:
            return sureshot.top_k(data, query, K, rng=seed, **arguments)

        seconds, result = _timed(search)
        right = _right(example, result.indices)
        work = result.work
        lines.append(Timed(label, seconds, work.numbers_read, work.share, right, result))
    return lines


def _numpy_top(
    data: npt.NDArray[np.float32], query: npt.NDArray[np.float32]
) -> npt.NDArray[np.int64]:
    scores = data @ query
    return np.argpartition(scores, len(scores) - K)[-K:]


def _right(example: Example, indices: npt.NDArray[np.int64]) -> int:
    """Count how many of the returned rows belong to the true top K."""
    return int(np.count_nonzero(example.true_ranks[indices] <= K))


def _timed(call: Callable[[], Answer]) -> tuple[tuple[float, ...], Answer]:
    """Call once to warm up, then time `REPETITIONS` calls."""
    answer = call()
    seconds = []
    for _ in range(REPETITIONS):
        started = time.perf_counter()
        answer = call()
        seconds.append(time.perf_counter() - started)
    return tuple(seconds), answer
