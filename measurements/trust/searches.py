"""How often an answer is worse than its certificate allows: 10^6 searches of hostile data, and what is promised of each."""

from __future__ import annotations

import math
import time
import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from measurements.trust.cases import TRIALS, Cell
from measurements.trust.racing import racing_to_the_end
from measurements.workloads.hostile import COUNTED, EDGES, query_for
from sureshot.search.methods import METHODS

if TYPE_CHECKING:
    from sureshot import TopK
    from sureshot._types import Array, Floats
    from sureshot.experiments.rows import Row

SEED = 19
EDGE_SHAPE = (30, 384)
COUNTED_SHAPE = (8, 512)
K, BLOCK = 3, 8
SMALLEST_FIRST = ("sqeuclidean", "l1")

# What may be lost of the ones of the best row, and by how many it is better.
LOSS = 150
EXACT_LEAD, LOSSY_LEAD = 1, LOSS + 2


@dataclass(frozen=True)
class Task:
    """A table, a question, and the true answer."""

    data: Floats
    query: Floats
    k: int
    epsilon: float
    truth: Floats  # scores; distances are negated
    allowance: Floats  # of rounding, for each of them


def task_of(cell: Cell) -> Task:
    """Return the table of a cell, by its seed."""
    name = zlib.crc32(f"{cell.population} {cell.metric} {cell.lossy}".encode())
    rng = np.random.default_rng([SEED, name, cell.part])
    k = K if METHODS[cell.method].any_k else 1
    if cell.population in EDGES:
        data = EDGES[cell.population](rng, EDGE_SHAPE)
        query = query_for(cell.population, rng, EDGE_SHAPE)
        epsilon = 0.0
    else:
        lead = LOSSY_LEAD if cell.lossy else EXACT_LEAD
        data = COUNTED[cell.population](rng, COUNTED_SHAPE, lead)
        query = np.ones(COUNTED_SHAPE[1])
        k, epsilon = 1, (loss_of(cell.metric, data) if cell.lossy else 0.0)
    truth, allowance = scores_of(data, query, cell.metric)
    return Task(data, query, k, epsilon, truth, allowance)


def loss_of(metric: str, data: Floats) -> float:
    """Return what `LOSS` ones fewer than the best row are worth."""
    if metric != "cosine":
        return float(LOSS)
    width, most = data.shape[1], data.sum(axis=1).max()
    return float(np.sqrt(most / width) - np.sqrt((most - LOSS) / width))


def scores_of(data: Floats, query: Floats, metric: str) -> tuple[Floats, Floats]:
    """Return the scores, correctly rounded, the largest best, and how far rounding may carry those of a search."""
    terms, tiny = 2 * (data.shape[1] + 8), float(np.finfo(float).smallest_subnormal)
    if metric == "cosine":
        rows = data / np.abs(data).max(axis=1, keepdims=True)
        unit = query / np.abs(query).max()
        norms = np.sqrt(_sums(rows**2) * math.fsum(unit**2))
        return _sums(rows * unit) / norms, terms * np.finfo(float).eps / norms
    if metric == "l1":
        table = -np.abs(data - query)
    elif metric == "sqeuclidean":
        table = -((data - query) ** 2)
    else:
        table = data * query
    scores = _sums(table)
    allowance = terms * (np.finfo(float).eps * _sums(np.abs(table)) + tiny)
    return (np.abs(scores) if metric == "abs-ip" else scores), allowance


def _sums(table: Floats) -> Floats:
    return np.array([math.fsum(row) for row in table])


def bounds_of(kind: str, data: Array) -> Any:
    """Return what a search is given to know of the data."""
    if kind == "limits":
        return float(data.min()) - 1e-9, float(data.max()) + 1e-9
    if kind == "limits per row":
        return data.min(axis=1, keepdims=True), data.max(axis=1, keepdims=True)
    if kind == "norms":
        return sureshot.Bounds(norms=sureshot.scan(data).norms)
    return sureshot.scan(data) if kind == "scan" else None


def measure(cell: Cell) -> Row:
    """Search one table in `TRIALS` orders, and count the answers that break a promise.

    Returns
    -------
    row
        ``wrong``: worse than the certificate allows, which may happen in a share delta of all searches. ``broken``:
        worse than a certificate allows that leaves no room for chance, or scores that are not those of the rows, which
        must never happen. ``excused``: wrong because the limit that the certificate names was exceeded. ``certain``:
        answers that were proved, so that no chance was involved.
    """
    task = task_of(cell)
    stored = np.asfortranarray(task.data) if cell.order == "F" else task.data
    bounds = bounds_of(cell.bounds, task.data)
    counts = dict.fromkeys(("wrong", "broken", "excused", "certain"), 0)
    began = time.perf_counter()
    with racing_to_the_end():
        for trial in range(TRIALS):
            found = sureshot.top_k(
                stored,
                task.query,
                task.k,
                metric=cell.metric,
                method=cell.method,
                replacement=cell.replacement if METHODS[cell.method].replacement else None,
                bounds=bounds,
                epsilon=task.epsilon,
                delta=cell.delta,
                block=None if METHODS[cell.method].single_coordinates else BLOCK,
                rng=np.random.SeedSequence([SEED, cell.part, trial]),
                threads=1,
            )
            for name in verdicts(found, task, cell.metric):
                counts[name] += 1
    seconds = time.perf_counter() - began
    return {**asdict(cell), "trials": TRIALS, **counts, "seconds": round(seconds, 4)}


def verdicts(found: TopK, task: Task, metric: str) -> list[str]:
    """Return what is to be counted of one answer."""
    certificate, said = found.certificate, []
    if certificate.exact:
        said.append("certain")
    own = task.truth[found.indices]
    scores = -found.scores if metric in SMALLEST_FIRST else found.scores
    off = np.abs(scores - own) > task.allowance[found.indices]
    if certificate.scores == "exact" and off.any():
        said.append("broken")
    best = np.sort(task.truth)[::-1][: len(own)]
    losses = (best - own) if certificate.every_position else (best - own)[-1:]
    room = certificate.epsilon + task.allowance.max() + task.allowance[found.indices].max()
    if not (losses > room).any() or certificate.delta == 1:
        return said
    if certificate.exact:
        return [*said, "broken"]
    return [*said, "excused" if excused(found, task, metric) else "wrong"]


def excused(found: TopK, task: Task, metric: str) -> bool:
    """Return whether some normalised block sum exceeds the limit that the certificate names."""
    limit = found.certificate.limit
    if found.certificate.unconditional or limit is None or metric in SMALLEST_FIRST:
        return False
    starts = np.arange(0, task.data.shape[1], BLOCK)
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = np.add.reduceat(task.data * task.query, starts, axis=1)
        normalised = np.abs(sums) / np.add.reduceat(np.abs(task.query), starts)
    return bool(np.nanmax(normalised) > limit)
