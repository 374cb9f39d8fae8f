"""Measures one search on one workload: what it reads, whether it is right, and what it costs."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

import sureshot
from benchmarks import machine, successive_elimination, workloads

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmarks.workloads import Workload
    from sureshot.experiments import rows

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

# Rows and coordinates by size; None is the workload's own.
SIZES = {"small": (1_000, 20_000), "full": (None, None)}
# Workloads of a few hundred rows, of which a small size takes all.
FEW_ROWS = ("spectrograms", "spectrograms-centred")

# Rivals that are not methods of the library, and the radius each works with.
ELIMINATIONS = {
    "successive-elimination-hoeffding": "hoeffding-serfling",
    "successive-elimination-bernstein": "empirical-bernstein-serfling",
}
# Queries of each row for which the exact product is timed next to the search.
EXACT_QUERIES = 3

# Scores that differ by this share of the largest one are equal but for rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Case:
    """What one row measures. Equal cases are measured once."""

    workload: str
    size: str
    order: Literal["row", "coordinate"]
    block: int
    bounds: str
    method: str
    k: int
    delta: float
    epsilon: float
    seed: int
    queries_made: int
    queries: int


class Trial(NamedTuple):
    """What one search found, and what it cost."""

    indices: Ints
    share: float
    exact_scores: int
    rounds: int
    epsilon: float  # what is promised; more than was asked for means that the search gave up


@dataclass(frozen=True)
class Prepared:
    """A workload, and what is known of it before the first search."""

    workload: Workload
    bounds: dict[str, Any]
    true_scores: Floats  # (queries, n)
    scan_seconds: float


def prepare(case: Case, path: Path | None) -> Prepared:
    """Make the workload of a case and prepare it."""
    n, N = SIZES[case.size]
    workload = workloads.make(
        case.workload,
        n=None if case.workload in FEW_ROWS else n,
        N=N,
        queries=case.queries_made,
        seed=case.seed,
        order=case.order,
        path=path,
    )
    return prepare_workload(workload)


def prepare_workload(workload: Workload, threads: int | None = None) -> Prepared:
    """Scan a workload and score every row for every query."""
    started = time.perf_counter()
    scanned = sureshot.scan(workload.data, threads=threads)
    scan_seconds = time.perf_counter() - started
    bounds = {
        "limits": (workload.low, workload.high),
        "scan": scanned,
        "none": None,
        "unit": "unit",
    }
    scores = true_scores(workload.data, workload.queries)
    return Prepared(workload, bounds, scores, scan_seconds)


def true_scores(data: NDArray[Any], queries: NDArray[Any]) -> Floats:
    """Return the inner products of all queries and rows in float64, without a copy of the data."""
    wanted = queries.astype(np.float64)
    scores = np.zeros((len(queries), len(data)))
    if data.flags.c_contiguous:
        for start in range(0, len(data), 256):
            part = slice(start, start + 256)
            scores[:, part] = wanted @ data[part].astype(np.float64).T
    else:
        for start in range(0, data.shape[1], 1024):
            part = slice(start, start + 1024)
            scores += wanted[:, part] @ data[:, part].astype(np.float64).T
    return scores


def count_right(found: Ints, true: Floats, k: int) -> int:
    """Return how many of the found rows belong to a top k; ties up to rounding belong.

    Examples
    --------
    >>> count_right(np.array([0, 2]), np.array([3.0, 1.0, 2.0, 2.0]), 2)
    2
    """
    kth = np.partition(true, -k)[-k]
    return int((true[np.unique(found)] >= kth - ROUNDING * np.abs(true).max()).sum())


def run_once(prepared: Prepared, case: Case, position: int) -> Trial:
    """Search with one query."""
    workload = prepared.workload
    query, seed = workload.queries[position], case.seed + position
    if case.method in ELIMINATIONS:
        found = successive_elimination.search(
            workload.data,
            query,
            case.k,
            low=workload.low,
            high=workload.high,
            delta=case.delta,
            radius=ELIMINATIONS[case.method],
            block=case.block,
            threads=machine.available_threads(),
            rng=np.random.default_rng(seed),
        )
        share = found.numbers_read / workload.data.size
        return Trial(found.indices, share, found.exact_scores, found.looks, 0.0)
    result = sureshot.top_k(
        workload.data,
        query,
        case.k,
        epsilon=case.epsilon,
        delta=case.delta,
        bounds=prepared.bounds[case.bounds],
        method=case.method,
        block=case.block,
        rng=seed,
    )
    work = result.work
    return Trial(
        result.indices, work.share, work.exact_scores, work.rounds, result.certificate.epsilon
    )


def measure(prepared: Prepared, case: Case) -> rows.Row:
    """Search with all queries of a case and return its row."""
    workload, memory = prepared.workload, machine.PeakMemory()
    trials, seconds, exact_seconds, growths = [], [], [], []
    right = 0
    for position in range(case.queries):
        memory.start()
        started = time.perf_counter()
        trial = run_once(prepared, case, position)
        seconds.append(time.perf_counter() - started)
        growths.append(memory.growth())
        trials.append(trial)
        right += count_right(trial.indices, prepared.true_scores[position], case.k)
        if position < EXACT_QUERIES:
            started = time.perf_counter()
            sureshot.top_k(workload.data, workload.queries[position], case.k, method="exact")
            exact_seconds.append(time.perf_counter() - started)
    shares = [trial.share for trial in trials]
    return {
        **asdict(case),
        "n": len(workload.data),
        "N": workload.data.shape[1],
        "median_share": float(np.median(shares)),
        "mean_share": float(np.mean(shares)),
        "max_share": max(shares),
        "median_exact_scores": float(np.median([trial.exact_scores for trial in trials])),
        "precision": right / (case.k * case.queries),
        "promises_missed": sum(trial.epsilon > case.epsilon for trial in trials),
        "median_rounds": float(np.median([trial.rounds for trial in trials])),
        "median_seconds": float(np.median(seconds)),
        "max_seconds": max(seconds),
        "exact_median_seconds": float(np.median(exact_seconds)),
        "scan_seconds": prepared.scan_seconds if case.bounds == "scan" else None,
        "peak_memory_growth": max(
            (growth for growth in growths if growth is not None), default=None
        ),
        "shares": shares,
    }
