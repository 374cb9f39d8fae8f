"""Searches whose every answer, count and certificate is on record, in ``tests/searches.jsonl``.

They are small, and raced from 1,024 coordinates on. A change of shape must leave all of them as they are. A change that means to read less or to promise
more writes the record anew, and the difference is what it has changed:

    python -m tests.searches
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.search.methods import METHODS
from tests.racing import race_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sureshot import TopK
    from sureshot._types import Array, Floats, Ints

RECORD = Path(__file__).with_name("searches.jsonl")

METRICS = ("ip", "abs-ip", "sqeuclidean", "l1", "cosine")
BANDITS = [method for method in METHODS.values() if method.needs_limits]


@dataclass(frozen=True)
class Search:
    """One search, by a name that says what it is."""

    name: str
    run: Callable[[], TopK] = field(repr=False)


def low_rank(n_arms: int, width: int, seed: int) -> tuple[Array, Floats]:
    """Return data of low rank with noise, and a query that some rows fit.

    Sums of small whole numbers, so that no BLAS makes it differ.
    """
    rng = np.random.default_rng(seed)
    factors = rng.integers(-4, 5, (n_arms, 6)).astype(np.float64)
    directions = rng.integers(-4, 5, (6, width)).astype(np.float64)
    noise = rng.integers(-32, 33, (n_arms, width))
    data = (factors @ directions + noise / 8) / 64
    query = (factors[n_arms // 3] + 1) @ directions / 64 + rng.integers(-8, 9, width) / 64
    return data.astype(np.float32), query


def gaussian(n_arms: int, width: int, seed: int) -> tuple[Array, Floats]:
    """Return data without any gap."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_arms, width), dtype=np.float32), rng.standard_normal(width)


def by_column(data: Array) -> Array:
    """Return the same data with its columns contiguous."""
    return np.asfortranarray(data)


def of_arrays() -> Iterator[Search]:
    """Give searches with `top_k`."""
    data, query = low_rank(400, 4096, 1)
    flat, flat_query = gaussian(300, 2048, 2)
    norms = np.sqrt(np.square(data, dtype=np.float64).sum(axis=1))
    limits = (float(data.min()), float(data.max()))
    rows = np.abs(data).max(axis=1, keepdims=True).astype(np.float64)
    known: dict[str, Any] = {
        "none": None,
        "limits": limits,
        "limits of coordinates": (data.min(axis=0) - 0.5, data.max(axis=0) + 0.5),
        "limits of rows": (-rows, rows),
        "norms": sureshot.Bounds(norms=norms),
        "exact norms": sureshot.Bounds(norms=norms, norms_exact=True),
        "scan": "scan",
        "saved scan": sureshot.scan(data),
    }

    def search(name: str, data: Array, query: Floats, k: int = 5, **options: Any) -> Search:
        options.setdefault("rng", 7)
        return Search(name, lambda: sureshot.top_k(data, query, k, **options))

    for metric in METRICS:
        for order, matrix in (("row", data), ("column", by_column(data))):
            for kind, bounds in known.items():
                name = f"{metric}, by {order}, {kind}"
                yield search(name, matrix, query, metric=metric, bounds=bounds)
            yield search(
                f"{metric}, by {order}, no gap",
                flat if order == "row" else by_column(flat),
                flat_query,
                metric=metric,
                bounds=(-6, 6),
                threads=1,
            )
    for order, matrix in (("row", data), ("column", by_column(data))):
        for kind in ("none", "limits", "norms", "scan"):
            name, bounds = f"by {order}, {kind}", known[kind]
            yield search(f"{name}, epsilon", matrix, query, bounds=bounds, epsilon=2.0)
            yield search(f"{name}, budget", matrix, query, bounds=bounds, budget=0.02)
            yield search(f"{name}, k = 1", matrix, query, 1, bounds=bounds, delta=0.001)
            yield search(f"{name}, k = 50", matrix, query, 50, bounds=bounds)
            yield search(
                f"{name}, some rows", matrix, query, bounds=bounds, where=np.arange(3, 400, 3)
            )
            yield search(f"{name}, scaled rows", matrix, query, bounds=bounds, row_scale=1 / norms)
            yield search(f"{name}, blocks of 5", matrix, query, bounds=bounds, block=5)
        zeros = np.where(np.arange(4096) % 3 == 0, 0.0, query)
        yield search(f"by {order}, query with zeros", matrix, zeros, bounds=known["limits"])
        yield search(f"by {order}, exact", matrix, query, method="exact")
        yield search(f"by {order}, no rewards but 0", matrix, 0 * query, bounds=known["limits"])
    for name in ("float16", "float64", "int8", "uint8", "int16", "bool"):
        if name == "bool":
            typed = data > 0
        elif name.startswith("float"):
            typed = data.astype(name)
        else:
            typed = np.clip(data * 40, 0 if name == "uint8" else -128, 127).astype(name)
        yield search(f"{name}, by row", typed, query)
        yield search(f"{name}, by column", by_column(typed), query)
    queries = np.stack([query, -query, flat_query[:1] * query, np.roll(query, 5), query[::-1]])
    for metric in ("ip", "cosine", "l1"):
        for order, matrix in (("row", data), ("column", by_column(data))):
            for kind in ("none", "limits", "scan", "saved scan"):
                yield search(
                    f"five queries, {metric}, by {order}, {kind}",
                    matrix,
                    queries,
                    metric=metric,
                    bounds=known[kind],
                    threads=2,
                )
            yield search(
                f"five queries, {metric}, by {order}, exact",
                matrix,
                queries,
                metric=metric,
                method="exact",
            )
    small, small_query = low_rank(30, 600, 3)
    for method in BANDITS:
        for replacement in (None, False):
            for k in (1, 3):
                if k > 1 and not method.any_k:
                    continue
                yield search(
                    f"{method.name}, k = {k}, replacement {replacement}",
                    small,
                    small_query,
                    k,
                    method=method.name,
                    bounds=(-4, 4),
                    epsilon=4000.0,
                    replacement=replacement,
                    budget=0.5 if method.budget == "required" else None,
                )
    for name in ("lucb", "successive-elimination"):
        yield search(
            f"{name}, budget",
            small,
            small_query,
            1,
            method=name,
            bounds=(-4, 4),
            epsilon=1.0,
            budget=0.3,
        )
    yield search(
        "bounded-me, scan", small, small_query, 2, method="bounded-me", bounds="scan", epsilon=500.0
    )
    yield search("short rows", small, small_query, 3)
    yield search("short rows, budget", small, small_query, 3, budget=0.2, bounds=(-4, 4))
    yield search("every row", small, small_query, 30, bounds=(-4, 4))


def of_functions() -> Iterator[Search]:
    """Give searches with `best_arms`."""
    rng = np.random.default_rng(11)
    few = rng.integers(0, 256, (24, 1500)) < np.linspace(80, 170, 24)[:, None]
    many = rng.integers(0, 256, (700, 400)) < np.linspace(20, 230, 700)[:, None]

    def pull_of(table: Array) -> Callable[[Ints, Ints], Array]:
        return lambda arms, coordinates: table[np.ix_(arms, coordinates)]

    async def ask(arms: Ints, coordinates: Ints) -> Array:
        await asyncio.sleep(0)
        return few[np.ix_(arms, coordinates)].astype(np.float64)

    def search(name: str, table: Array, k: int = 1, **options: Any) -> Search:
        options = {"epsilon": 0.05, "rng": 5, **options}
        return Search(
            f"pulls, {name}",
            lambda: sureshot.best_arms(pull_of(table), len(table), table.shape[1], k, **options),
        )

    yield search("few arms", few)
    yield search("few arms, k = 4", few, 4, delta=0.01)
    yield search("few arms, exact", few, 2, epsilon=0)
    yield search("few arms, budget", few, 2, epsilon=0.001, budget=0.1)
    yield search("few arms, some", few, 2, where=[1, 5, 6, 20, 23])
    yield search("few arms, wide bounds", few, bounds=(-1, 3), epsilon=0.2)
    yield search("many arms", many, 3)
    yield search("many arms, exact", many, 3, epsilon=0)
    yield search("many arms, budget", many, 3, budget=0.05, epsilon=0)
    yield search("all evaluated", few, 3, method="exact")
    for method in BANDITS:
        budget = 0.4 if method.budget == "required" else None
        yield search(method.name, few, method=method.name, epsilon=0.3, budget=budget)
        yield search(
            f"{method.name}, no replacement",
            few,
            method=method.name,
            epsilon=0.2,
            budget=budget,
            replacement=False,
        )
    yield Search(
        "pulls, coroutine",
        lambda: sureshot.best_arms(ask, 24, 1500, 2, epsilon=0.1, rng=3, pulls_per_call=50),
    )


def searches() -> list[Search]:
    """Return all of them."""
    return [*of_arrays(), *of_functions()]


def as_recorded(result: TopK) -> dict[str, Any]:
    """Return everything of a result that depends neither on the clock nor on the sums of numpy's product."""
    found = result.to_dict()
    for one in (found, *found["queries"]):
        rounds = one.pop("rounds", [])
        one["numbers_after_rounds"] = [info["numbers_read"] for info in rounds]
        if "matrix product" in one["work"]["choice"]:  # who is evaluated follows from its rounding
            for name in ("numbers_read", "bytes_read", "share", "exact_scores"):
                del one["work"][name]
            del one["numbers_after_rounds"]
        del one["work"]["seconds"], one["work"]["choice"]
        one["arms_after_rounds"] = [info["arms"] for info in rounds]
        one["thresholds"] = [info["threshold"] for info in rounds]
    return found


def main() -> None:
    """Write the record anew."""
    with pytest.MonkeyPatch.context() as patch, RECORD.open("w") as file:
        race_from(1024, patch)
        for search in searches():
            file.write(json.dumps({"name": search.name} | as_recorded(search.run())) + "\n")


if __name__ == "__main__":
    main()
