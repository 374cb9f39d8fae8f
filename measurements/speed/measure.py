"""Measures one case of `measurements.speed.run`: the library and its rivals on the same data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from measurements import workloads
from measurements.harness import loop, machine, prepared
from measurements.rivals.libraries import RIVALS
from measurements.speed import bandwidth, floor
from measurements.speed.cases import BATCH, queries_made
from sureshot.experiments import metrics
from sureshot.experiments.answers import checked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from measurements.harness.prepared import Prepared
    from measurements.speed.bandwidth import Memory
    from measurements.speed.cases import SpeedCase
    from sureshot.experiments import rows
    from sureshot.experiments.clock import Times

    Sides = dict[str, Callable[[int], Any]]

OURS = "sureshot"
SINGLE = "one by one"  # the library itself, with the queries of a batch one after the other
# Seconds after which a side is asked no further queries.
PATIENCE = 10.0
MEMORY_QUERIES = 2


@dataclass(frozen=True)
class Setup:
    """Data, what is known of it, and how fast it can be read."""

    ready: Prepared
    memory: Memory


def prepare(case: SpeedCase, path: Path | None) -> Setup:
    """Make the data of a case, and measure how fast it can be read."""
    # The rows are made by a thread for each core, and networks are trained in small products: more threads of the
    # product take eight times as long.
    with import_module("threadpoolctl").threadpool_limits(1, user_api="blas"):
        made = workloads.make(
            case.workload,
            n=case.asked_n,
            N=case.asked_N,
            queries=queries_made(case.queries),
            seed=case.seed,
            order=case.order,
            path=path,
        )
    made = workloads.as_type(made, case.dtype)
    ready = prepared.prepare(made, case.threads)
    return Setup(ready, bandwidth.measure(made.data, case.threads))


def sides_of(setup: Setup, case: SpeedCase) -> tuple[Sides, dict[str, str]]:
    """Return what is timed, the library first, and why some rivals are not."""
    made = setup.ready.made
    ours = TASKS[case.task](setup, case, case.threads)
    refusals = {name: rival.refusal(made.data) for name, rival in RIVALS.items()}
    if case.task == "scan":
        return {OURS: ours, "numpy": lambda i: made.data @ made.queries[i]}, {}
    theirs: Sides = {
        name: lambda i, rival=rival: rival.search(  # type: ignore[misc]
            made.data, _queries(setup, case, i), case.k, case.threads
        )
        for name, rival in RIVALS.items()
        if not refusals[name]
    }
    alone: Sides = {}
    if case.task == "batch":
        single = _search(setup, replace(case, task="search"), case.threads)
        alone[SINGLE] = lambda _: [single(i) for i in range(BATCH)]
    return {OURS: ours, **alone, **theirs}, {name: why for name, why in refusals.items() if why}


def _queries(setup: Setup, case: SpeedCase, position: int) -> Any:
    queries = setup.ready.made.queries
    return queries[:BATCH] if case.task == "batch" else queries[position]


def _search(setup: Setup, case: SpeedCase, threads: int) -> Callable[[int], Any]:
    ready = setup.ready
    return lambda i: sureshot.top_k(
        ready.made.data,
        _queries(setup, case, i),
        case.k,
        bounds=ready.bounds[case.bounds],
        method=case.method,
        rng=case.seed + i,
        threads=threads,
    )


def _scan(setup: Setup, _case: SpeedCase, threads: int) -> Callable[[int], Any]:
    return lambda _: sureshot.scan(setup.ready.made.data, threads=threads)


TASKS: dict[str, Callable[[Setup, SpeedCase, int], Callable[[int], Any]]] = {
    "search": _search,
    "scan": _scan,
    "batch": _search,
}


def measure(setup: Setup, case: SpeedCase) -> rows.Row:
    """Return the row of a case: measure the memory, compare threads, then time each side."""
    sides, refusals = sides_of(setup, case)
    warm_up = len(setup.ready.made.queries) - 1
    ours = sides[OURS]
    ours(warm_up)
    memory = _memory(ours)
    agrees = _same(ours(0), TASKS[case.task](setup, case, 1 if case.threads > 1 else 2)(0))
    times = loop.in_turns(sides, range(case.queries), warm_up, patience=PATIENCE)
    return {
        **asdict(case),
        "n": len(setup.ready.made.data),
        "N": setup.ready.made.data.shape[1],
        "data_bytes": setup.ready.made.data.nbytes,
        "seconds": {name: found.median for name, found in times.items()},
        "quartiles": {name: found.quartiles for name, found in times.items()},
        "timed": {name: len(found.seconds) for name, found in times.items()},
        "ratios": ratios(times),
        "not_timed": refusals,
        **_work(setup, case, times[OURS]),
        "precision": _precision(setup, case, times),
        "peak_memory_growth": memory,
        "threads_agree": agrees,
        **asdict(setup.memory),
        "scan_seconds": setup.ready.scan_seconds,
        "note": _note(case, times),
    }


def ratios(times: dict[str, Times]) -> dict[str, float]:
    """Return how many times as long as the library each rival took: the median of the queries that both answered.

    The same query has the same turn on every side: what slows the machine down for some seconds slows down both.
    """
    ours = times[OURS].seconds
    return {
        name: float(np.median([a / b for a, b in zip(found.seconds, ours, strict=False)]))
        for name, found in times.items()
        if name != OURS
    }


def _memory(call: Callable[[int], Any]) -> int | None:
    """Return the largest growth of the memory; not while timing, since looking at it costs time."""
    memory, grown = machine.PeakMemory(), []
    for position in range(MEMORY_QUERIES):
        memory.start()
        call(position)
        grown.append(memory.growth())
    return max((growth for growth in grown if growth is not None), default=None)


def _same(left: Any, right: Any) -> bool:
    """Return whether two results are the same to the last bit."""
    if isinstance(left, sureshot.TopK):
        return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))
    return all(
        np.array_equal(getattr(left, name), getattr(right, name))
        for name in ("middle", "scale", "reach", "norms")
    )


def _work(setup: Setup, case: SpeedCase, times: Times) -> rows.Row:
    """Return what our searches read, and how that compares with the speed of memory."""
    data, memory = setup.ready.made.data, setup.memory
    if case.task == "scan":
        found = {"median_share": 1.0}
        traffics = [floor.Traffic(floor.Part(), floor.Part(streamed=data.nbytes))]
    else:
        results = times.results
        works = [result.work for result in results]
        traffics = [floor.traffic(work, data, memory) for work in works]
        found = {
            "median_share": float(np.median([work.share for work in works])),
            "median_rounds": float(np.median([work.rounds for work in works])),
            "median_exact_scores": float(np.median([work.exact_scores for work in works])),
            "unconditional": all(result.certificate.unconditional for result in results),
            "certificate": results[0].certificate.assumption,
        }
    least = float(np.median([one.seconds(memory) for one in traffics]))
    return {
        **found,
        "bytes_read": float(np.median([one.bytes_read for one in traffics])),
        "floor_seconds": least,
        "reached": least / times.median,
    }


def _precision(setup: Setup, case: SpeedCase, times: dict[str, Times]) -> dict[str, float]:
    """Return the precision of each side."""
    if case.task == "scan":
        return {}
    true = setup.ready.true_scores[: BATCH if case.task == "batch" else None]
    found = {}
    for name, taken in times.items():
        if name == SINGLE:
            continue
        right = []
        for position, result in enumerate(taken.results):
            indices = result.indices if isinstance(result, sureshot.TopK) else result
            wanted = true if case.task == "batch" else true[position : position + 1]
            right += [
                metrics.precision(checked(some, scores.size, case.k, name), scores, case.k)
                for some, scores in zip(np.atleast_2d(indices), wanted, strict=True)
            ]
        found[name] = float(np.mean(right))
    return found


def _note(case: SpeedCase, times: dict[str, Times]) -> str:
    """Return which sides were timed with fewer queries than asked for."""
    few = [
        f"{name} with {len(found.seconds)} of {case.queries} queries: slow"
        for name, found in times.items()
        if len(found.seconds) < case.queries
    ]
    return "; ".join(few)
