"""Searches one workload in one way: what that reads, whether it is right, and what it costs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

import sureshot
from measurements import workloads
from measurements.harness import machine, prepared
from measurements.rivals import elimination
from sureshot.experiments import clock, metrics

if TYPE_CHECKING:
    from pathlib import Path

    from measurements.harness.prepared import Prepared
    from sureshot._types import Ints
    from sureshot.experiments import rows

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


@dataclass(frozen=True)
class ShareCase:
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


def prepare(case: ShareCase, path: Path | None) -> Prepared:
    """Make the workload of a case and prepare it."""
    n, N = SIZES[case.size]
    made = workloads.make(
        case.workload,
        n=None if case.workload in FEW_ROWS else n,
        N=N,
        queries=case.queries_made,
        seed=case.seed,
        order=case.order,
        path=path,
    )
    return prepared.prepare(made)


def run_once(ready: Prepared, case: ShareCase, position: int) -> Trial:
    """Search with one query."""
    made = ready.made
    query, seed = made.queries[position], case.seed + position
    if case.method in ELIMINATIONS:
        found = elimination.search(
            made.data,
            query,
            case.k,
            low=made.low,
            high=made.high,
            delta=case.delta,
            radius=ELIMINATIONS[case.method],
            block=case.block,
            threads=machine.available_threads(),
            rng=np.random.default_rng(seed),
        )
        share = found.numbers_read / made.data.size
        return Trial(found.indices, share, found.exact_scores, found.looks, 0.0)
    result = sureshot.top_k(
        made.data,
        query,
        case.k,
        epsilon=case.epsilon,
        delta=case.delta,
        bounds=ready.bounds[case.bounds],
        method=case.method,
        block=case.block,
        rng=seed,
    )
    work = result.work
    return Trial(
        result.indices, work.share, work.exact_scores, work.rounds, result.certificate.epsilon
    )


def measure(ready: Prepared, case: ShareCase) -> rows.Row:
    """Search with all queries of a case and return its row."""
    made, memory = ready.made, machine.PeakMemory()
    trials, seconds, exact_seconds, growths, right = [], [], [], [], []
    for position in range(case.queries):
        memory.start()
        trial, taken = clock.timed(partial(run_once, ready, case, position))
        growths.append(memory.growth())
        seconds.append(taken)
        trials.append(trial)
        right.append(metrics.precision(trial.indices, ready.true_scores[position], case.k))
        if position < EXACT_QUERIES:
            query = made.queries[position]
            exact = partial(sureshot.top_k, made.data, query, case.k, method="exact")
            exact_seconds.append(clock.timed(exact)[1])
    shares = [trial.share for trial in trials]
    return {
        **asdict(case),
        "n": len(made.data),
        "N": made.data.shape[1],
        "median_share": float(np.median(shares)),
        "mean_share": float(np.mean(shares)),
        "max_share": max(shares),
        "median_exact_scores": float(np.median([trial.exact_scores for trial in trials])),
        "precision": float(np.mean(right)),
        "promises_missed": sum(trial.epsilon > case.epsilon for trial in trials),
        "median_rounds": float(np.median([trial.rounds for trial in trials])),
        "median_seconds": float(np.median(seconds)),
        "max_seconds": max(seconds),
        "exact_median_seconds": float(np.median(exact_seconds)),
        "scan_seconds": ready.scan_seconds if case.bounds == "scan" else None,
        "peak_memory_growth": max(
            (growth for growth in growths if growth is not None), default=None
        ),
        "shares": shares,
    }
