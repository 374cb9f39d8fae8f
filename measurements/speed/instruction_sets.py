"""How fast searches are with each instruction set that the processor has: ``python -m measurements.speed.instruction_sets``.

All of them find the same bits, so what one of them takes far longer for is a mistake: an AVX2 kernel in which GCC kept
vectors in memory took five times as long as the portable one. ``--write`` puts the table into docs/benchmarks.md.
The sides take turns, as in the other measurements.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import sureshot
from measurements import workloads
from measurements.harness import command, loop, machine, page
from sureshot import _native

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Enough for races, also by column; of everything else a part of the columns is enough.
N_ARMS, N_COORDINATES = 3_000, 100_000
PART = 15
CALLS = 9
BATCH, MANY = 16, 256


class Search(NamedTuple):
    """What is measured: data, queries and arguments."""

    what: str
    data: NDArray[Any]
    queries: NDArray[np.float32]
    arguments: dict[str, Any]


def searches(n_arms: int, n_coordinates: int) -> list[Search]:
    """Return searches that use all kinds of kernels."""
    made = workloads.make("low-rank", n=n_arms, N=n_coordinates, queries=MANY, seed=0)
    wide, wide_queries = made.data, np.ascontiguousarray(made.queries, np.float32)
    wide_columns, asked = np.asfortranarray(wide), wide_queries[0]
    scan, limits = sureshot.scan(wide), (float(wide.min()), float(wide.max()))
    data = np.ascontiguousarray(wide[:, : n_coordinates // PART])
    queries = np.ascontiguousarray(wide_queries[:, : n_coordinates // PART])
    one, columns, few = queries[0], np.asfortranarray(data), data[: n_arms // 20]
    small = np.clip(40 * data + 128, 0, 255).astype(np.uint8)
    exact = {"method": "exact", "k": 10}
    in_double = {"method": "exact", "k": n_arms // 2}  # too many of the arms for a screen
    return [
        Search("wide, by row, scan", wide, asked, {"bounds": scan, "k": 10}),
        Search("wide, by row, limits", wide, asked, {"bounds": limits, "k": 10}),
        Search("wide, by column, scan", wide_columns, asked, {"bounds": scan, "k": 10}),
        Search("wide, by column, limits", wide_columns, asked, {"bounds": limits, "k": 10}),
        Search("screen by row", data, one, exact),
        Search("screen by row, sqeuclidean", data, one, {**exact, "metric": "sqeuclidean"}),
        Search("screen by column", columns, one, exact),
        Search("screen of uint8", small, one, exact),
        Search("every score in double", data, one, in_double),
        Search("every score of uint8 in double", small, one, in_double),
        Search(
            f"every score in double, {BATCH} queries",
            few,
            queries[:BATCH],
            {**exact, "k": len(few)},
        ),
        Search(f"product with {BATCH} queries", data, queries[:BATCH], exact),
        Search(f"product with {MANY} queries", data, queries, exact),
    ]


def calls(search: Search) -> dict[str, Callable[[int], object]]:
    """Return the same search with each instruction set."""

    def call(name: str, _: int) -> object:
        _native.use_instruction_set(name)
        return sureshot.top_k(search.data, search.queries, rng=0, **search.arguments)

    return {name: partial(call, name) for name in _native.instruction_sets()}


def measure(n_arms: int, n_coordinates: int, n_calls: int) -> list[list[str]]:
    """Return a line for each search: what answered it, and its milliseconds with each instruction set."""
    lines, before = [], _native.instruction_set()
    for search in searches(n_arms, n_coordinates):
        times = loop.in_turns(calls(search), range(n_calls), 0)
        _native.use_instruction_set(before)
        medians = [1e3 * float(np.median(found.seconds)) for found in times.values()]
        by = sorted({answer.algorithm for found in times.values() for answer in found.results})
        lines.append([search.what, ", ".join(by), *(f"{median:.3g}" for median in medians)])
    return lines


def table(n_arms: int, n_coordinates: int, n_calls: int) -> list[str]:
    """Measure, and return the table with its title."""
    title = (
        f"low-rank, float32; wide {n_arms:,} × {n_coordinates:,}, the others {n_arms:,} × "
        f"{n_coordinates // PART:,}; medians of {n_calls} calls, {machine.available_threads()} threads, milliseconds:"
    )
    head = ["search", "by", *_native.instruction_sets()]
    return [title, "", *page.left_aligned(head, measure(n_arms, n_coordinates, n_calls))]


def main() -> None:
    """Measure and print."""
    command.print_table(
        "speed.instruction_sets", __doc__, (N_ARMS, N_COORDINATES, CALLS), table, "instruction sets"
    )


if __name__ == "__main__":
    main()
