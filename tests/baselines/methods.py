"""How each baseline is made for a test, and its budgets from little to everything."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.baselines import ADAPTERS, BASELINES, PAPER

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Array, Floats
    from sureshot.baselines import Baseline

    Knobs = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """A baseline as the tests use it.

    `least` is a small budget, `budgets` grow, and `everything` makes every row a candidate; the last two
    depend on the fitted baseline or on nothing.
    """

    least: Knobs
    budgets: tuple[Knobs, ...]
    everything: Callable[[Any], Knobs]
    build: Knobs = field(default_factory=dict)
    non_negative: bool = False
    squares: bool = False
    needs: str = ""  # a package that may not be there


SHARES: tuple[Knobs, ...] = ({"B": 0.05}, {"B": 0.2}, {"B": 0.6}, {"B": 1.0})
DRAWS: tuple[Knobs, ...] = tuple({"samples": 500, **share} for share in SHARES)
LISTS: tuple[Knobs, ...] = ({"ef": 5}, {"ef": 200})

TRIALS = {
    "exact": Trial({}, ({},), lambda _: {}),
    "greedy": Trial({"B": 1}, SHARES, lambda _: {"B": 1.0}),
    "lsh": Trial(
        {"a": 8, "b": 1},
        ({"a": 8, "b": 2}, {"a": 6, "b": 6}, {"a": 4, "b": 12}, {"a": 0, "b": 12}),
        lambda _: {"a": 0, "b": 1},
        build={"most_bits": 8, "most_tables": 12, "rng": 3},
    ),
    "pca": Trial(
        {"depth": 12},
        tuple({"depth": depth} for depth in (6, 3, 1, 0)),
        lambda _: {"depth": 0},
        build={"depth": 12, "rng": 3},
    ),
    "rpt": Trial(
        {"L": 1, "leaf": 1},
        ({"L": 1, "leaf": 0.05}, {"L": 3, "leaf": 0.1}, {"L": 5, "leaf": 0.3}, {"leaf": 1.0}),
        lambda _: {"L": 1, "leaf": 1.0},
        build={"L": 5, "rng": 3},
    ),
    "sample": Trial(
        {"samples": 1, "B": 1}, DRAWS, lambda _: {"B": 1.0}, build={"rng": 3}, non_negative=True
    ),
    "diamond": Trial(
        {"samples": 1, "B": 1}, DRAWS, lambda _: {"B": 1.0}, build={"rng": 3}, squares=True
    ),
    "kmeans": Trial(
        {"probes": 1},
        tuple({"probes": probes} for probes in (1, 3, 6, 10)),
        lambda method: {"probes": method.clusters},
        build={"passes": 2, "rng": 3},
    ),
    "faiss-flat": Trial({}, ({},), lambda _: {}, needs="faiss"),
    "faiss-ivf": Trial(
        {"nprobe": 1},
        tuple({"nprobe": probes} for probes in (1, 3, 6, 10)),
        lambda method: {"nprobe": method.cells},
        build={"rng": 3},
        needs="faiss",
    ),
    "faiss-hnsw": Trial({"ef": 1}, LISTS, lambda _: {"ef": 10_000}, needs="faiss"),
    "hnswlib": Trial({"ef": 1}, LISTS, lambda _: {"ef": 10_000}, build={"rng": 3}, needs="hnswlib"),
    "usearch": Trial({"ef": 1}, LISTS, lambda _: {"ef": 10_000}, needs="usearch"),
}

# A walk in a graph may miss rows, whatever its list.
GRAPHS = ("faiss-hnsw", "hnswlib", "usearch")


def parameter(name: str) -> Any:
    """Return a name for `pytest.mark.parametrize` that is skipped if its library is not there."""
    package = TRIALS[name].needs
    missing = bool(package) and find_spec(package) is None
    reason = f"{package} is not installed: pip install --group rivals"
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason=reason))


ALL = [parameter(name) for name in BASELINES]
OF_THE_PAPER = [parameter(name) for name in PAPER]
OF_LIBRARIES = [parameter(name) for name in ADAPTERS]


def made(name: str, **build: Any) -> Baseline:
    """Return a baseline that is not fitted yet."""
    return BASELINES[name](**(TRIALS[name].build | build))


def population(
    name: str, shape: tuple[int, int], seed: int = 0, dtype: type = np.float64
) -> tuple[Array, Floats]:
    """Return data of low rank with noise, which has something to find, and queries of its kind.

    As a baseline takes them: without negative values if it wants none.
    """
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((5, shape[1]))
    data = rng.standard_normal((shape[0], 5)) @ factors + rng.standard_normal(shape)
    queries = rng.standard_normal((20, 5)) @ factors + rng.standard_normal((20, shape[1]))
    if TRIALS[name].non_negative:
        data, queries = np.abs(data), np.abs(queries)
    return data.astype(dtype), queries


def truth(name: str, data: Array, query: Floats) -> Floats:
    """Return what a baseline ranks all rows by, in float64."""
    scores: Floats = np.asarray(data, np.float64) @ query
    return np.abs(scores) if TRIALS[name].squares else scores
