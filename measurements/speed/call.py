"""What a call costs besides the arithmetic: `top_k` on a tiny array, less the product by numpy.

``python -m measurements.speed.call`` prints a table, ``--write`` puts it into docs/benchmarks.md. An array of
100 × 200 numbers is in the caches, and multiplying it takes some microseconds: all the rest is spent on
checks, on setting up the problem and on writing the result. Each side has a loop of its own, since the
threads of a product stay awake for a while and slow down what runs beside them.
"""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from measurements.harness import command, machine, page
from sureshot.experiments import clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

N_ARMS, N_COORDINATES, K = 100, 200, 10
CALLS = 2_000
WARM_UP = 100
METHODS = ("betting", "exact")


def microseconds(call: Callable[[], object], calls: int) -> NDArray[np.float64]:
    """Return the time of each of so many calls, in a loop of their own."""
    time.sleep(clock.REST)
    for _ in range(WARM_UP):
        call()
    times = np.empty(calls)
    for at in range(calls):
        started = time.perf_counter()
        call()
        times[at] = time.perf_counter() - started
    return 1e6 * times


def known(data: NDArray[np.float32]) -> dict[str, dict[str, Any]]:
    """Return the bounds that each metric is called with, by what they are called in the table."""
    scan = sureshot.scan(data)
    norms = sureshot.Bounds(norms=scan.norms, norms_exact=True)
    limits = {"none": None, "limits": (float(data.min()), float(data.max())), "scan": scan}
    return {"ip": limits, "sqeuclidean": limits, "cosine": {"norms": norms, "scan": scan}}


def product(data: NDArray[np.float32], query: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return the k best rows by inner product, as somebody would write it with numpy."""
    scores = data @ query
    best = np.argpartition(scores, -k)[-k:]
    return best[np.argsort(-scores[best])]


def measure(n_arms: int, n_coordinates: int, calls: int) -> list[list[str]]:
    """Return a line for each kind of call: median and minimum, and both less those of the product."""
    rng = np.random.default_rng(0)
    data = rng.standard_normal((n_arms, n_coordinates), dtype=np.float32)
    query = rng.standard_normal(n_coordinates, dtype=np.float32)
    plain = microseconds(functools.partial(product, data, query, K), calls)
    lines = [["numpy", "", "", *shown(plain), "", ""]]
    for metric, bounds in known(data).items():
        for name, given in bounds.items():
            for method in METHODS:
                call = functools.partial(
                    sureshot.top_k, data, query, K, metric=metric, bounds=given, method=method
                )
                times = microseconds(call, calls)
                besides = (np.median(times) - np.median(plain), times.min() - plain.min())
                lines.append(
                    [metric, name, method, *shown(times), *(f"{cost:.0f}" for cost in besides)]
                )
    return lines


def shown(times: NDArray[np.float64]) -> tuple[str, str]:
    """Return the median and the minimum."""
    return f"{np.median(times):.0f}", f"{times.min():.0f}"


def table(n_arms: int, n_coordinates: int, calls: int) -> list[str]:
    """Measure, and return the table with its title."""
    title = (
        f"{n_arms:,} × {n_coordinates:,}, float32, k = {K}, {calls:,} calls each, "
        f"{machine.available_threads()} threads, microseconds:"
    )
    head = ["metric", "bounds", "method", "median", "minimum", "besides, median", "minimum"]
    return [title, "", *page.left_aligned(head, measure(n_arms, n_coordinates, calls))]


def main() -> None:
    """Measure and print."""
    command.print_table("speed.call", __doc__, (N_ARMS, N_COORDINATES, CALLS), table, "call")


if __name__ == "__main__":
    main()
