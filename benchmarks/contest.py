"""Measures one case of `benchmarks.speed`: the library against its rivals on the same data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from benchmarks import bandwidth, clock, machine, workloads
from benchmarks.measure import count_right, prepare_workload
from benchmarks.rivals import RIVALS
from benchmarks.speed_cases import BATCH, queries_made

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.clock import Times
    from benchmarks.measure import Prepared
    from benchmarks.speed_cases import Case
    from sureshot.experiments import rows

    Contestants = dict[str, Callable[[int], Any]]

OURS = "sureshot"
SINGLE = "one by one"  # the library itself, with the queries of a batch one after the other
MEMORY_QUERIES = 2


@dataclass(frozen=True)
class Arena:
    """Data, what is known of it, and the bytes per second that it can be read with."""

    prepared: Prepared
    bandwidth: float


def prepare(case: Case, path: Path | None) -> Arena:
    """Make the data of a case, and measure how fast it can be read."""
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
    prepared = prepare_workload(made, case.threads)
    return Arena(prepared, bandwidth.measure(made.data, case.threads))


def contestants(arena: Arena, case: Case) -> tuple[Contestants, dict[str, str]]:
    """Return what is timed, ourselves first, and why some rivals are not."""
    made = arena.prepared.workload
    ours = TASKS[case.task](arena, case, case.threads)
    refusals = {name: rival.refusal(made.data) for name, rival in RIVALS.items()}
    if case.task == "scan":
        return {OURS: ours, "numpy": lambda i: made.data @ made.queries[i]}, {}
    theirs: Contestants = {
        name: lambda i, rival=rival: rival.search(  # type: ignore[misc]
            made.data, _queries(arena, case, i), case.k, case.threads
        )
        for name, rival in RIVALS.items()
        if not refusals[name]
    }
    alone: Contestants = {}
    if case.task == "batch":
        single = _search(arena, replace(case, task="search"), case.threads)
        alone[SINGLE] = lambda _: [single(i) for i in range(BATCH)]
    return {OURS: ours, **alone, **theirs}, {name: why for name, why in refusals.items() if why}


def _queries(arena: Arena, case: Case, position: int) -> Any:
    queries = arena.prepared.workload.queries
    return queries[:BATCH] if case.task == "batch" else queries[position]


def _search(arena: Arena, case: Case, threads: int) -> Callable[[int], Any]:
    prepared = arena.prepared
    return lambda i: sureshot.top_k(
        prepared.workload.data,
        _queries(arena, case, i),
        case.k,
        bounds=prepared.bounds[case.bounds],
        method=case.method,
        rng=case.seed + i,
        threads=threads,
    )


def _scan(arena: Arena, _case: Case, threads: int) -> Callable[[int], Any]:
    return lambda _: sureshot.scan(arena.prepared.workload.data, threads=threads)


TASKS: dict[str, Callable[[Arena, Case, int], Callable[[int], Any]]] = {
    "search": _search,
    "scan": _scan,
    "batch": _search,
}


def measure(arena: Arena, case: Case) -> rows.Row:
    """Return the row of a case: warm up, look at the memory and the threads, then time."""
    racers, refusals = contestants(arena, case)
    warm_up = len(arena.prepared.workload.queries) - 1
    for call in racers.values():
        call(warm_up)
    ours = racers[OURS]
    memory = _memory(ours)
    agrees = _same(ours(0), TASKS[case.task](arena, case, 1 if case.threads > 1 else 2)(0))
    times = clock.race(racers, range(case.queries))
    seconds = {name: found.median for name, found in times.items()}
    return {
        **asdict(case),
        "n": len(arena.prepared.workload.data),
        "N": arena.prepared.workload.data.shape[1],
        "data_bytes": arena.prepared.workload.data.nbytes,
        "seconds": seconds,
        "quartiles": {name: found.quartiles for name, found in times.items()},
        "timed": {name: len(found.seconds) for name, found in times.items()},
        "ratios": ratios(seconds),
        "not_timed": refusals,
        **_work(arena, case, times[OURS]),
        "precision": _precision(arena, case, times),
        "peak_memory_growth": memory,
        "threads_agree": agrees,
        "bandwidth": arena.bandwidth,
        "scan_seconds": arena.prepared.scan_seconds,
        "note": _note(case, times),
    }


def ratios(seconds: dict[str, float]) -> dict[str, float]:
    """Return how many times as long as ourselves everyone else took."""
    return {name: taken / seconds[OURS] for name, taken in seconds.items() if name != OURS}


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


def _work(arena: Arena, case: Case, times: Times) -> rows.Row:
    """Return what our searches read, and how that compares with the speed of memory."""
    data = arena.prepared.workload.data
    if case.task == "scan":
        read, found = float(data.nbytes), {"median_share": 1.0}
    else:
        results = times.results
        read = float(np.median([bandwidth.bytes_read(one.work, data) for one in results]))
        works = [result.work for result in results]
        found = {
            "median_share": float(np.median([work.share for work in works])),
            "median_rounds": float(np.median([work.rounds for work in works])),
            "median_exact_scores": float(np.median([work.exact_scores for work in works])),
            "unconditional": all(result.certificate.unconditional for result in results),
            "certificate": results[0].certificate.assumption,
        }
    floor = read / arena.bandwidth
    return {
        **found,
        "bytes_read": read,
        "floor_seconds": floor,
        "reached": floor / times.median,
    }


def _precision(arena: Arena, case: Case, times: dict[str, Times]) -> dict[str, float]:
    """Return which part of the rows that everyone found belongs to the true top k."""
    if case.task == "scan":
        return {}
    true = arena.prepared.true_scores[: BATCH if case.task == "batch" else None]
    found = {}
    for name, taken in times.items():
        if name == SINGLE:
            continue
        right = []
        for position, result in enumerate(taken.results):
            indices = result.indices if isinstance(result, sureshot.TopK) else result
            wanted = true if case.task == "batch" else true[position : position + 1]
            right += [
                count_right(some, scores, case.k) / case.k
                for some, scores in zip(np.atleast_2d(indices), wanted, strict=True)
            ]
        found[name] = float(np.mean(right))
    return found


def _note(case: Case, times: dict[str, Times]) -> str:
    """Say who was timed with fewer queries than asked for."""
    few = [
        f"{name} with {len(found.seconds)} of {case.queries} queries: slow"
        for name, found in times.items()
        if len(found.seconds) < case.queries
    ]
    return "; ".join(few)
