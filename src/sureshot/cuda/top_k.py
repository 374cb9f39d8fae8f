"""The top k of a matrix on a device: from the arguments of a call to its result."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._validate.running import place_to_save
from sureshot.bounds import Bounds, bounds_of_scan
from sureshot.cuda import driver
from sureshot.cuda.arrays import DeviceArray
from sureshot.cuda.layout import ASKED, REASONS
from sureshot.cuda.matrix import Norms, matrix_of
from sureshot.cuda.measuring import NO_LIMITS, measure
from sureshot.cuda.request import (
    bounds_key,
    checked,
    data_on_device,
    declared,
    limits,
    refuse_unsupported,
)
from sureshot.cuda.search import Search
from sureshot.errors import BoundsError
from sureshot.result import Certificate, TopK, Work, share_time, stack

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints
    from sureshot.cuda.matrix import DeviceMatrix
    from sureshot.cuda.request import Request

SCANNED = "the data is what was scanned"

# By how much of itself a score must exceed the largest possible one to prove that a norm is wrong.
LEAST_EXCESS = 1e-6

NO_ASSUMPTION = "no assumption is needed"


def top_k(data: Any, query: Any, k: Any, **arguments: Any) -> TopK:
    """Search a matrix on a device; the arguments are those of `sureshot.top_k`."""
    started = time.perf_counter()
    request = checked(data, query, k, **arguments)
    matrix = matrix_of(data, request.array)
    with matrix.device.current():
        return _Call(request, matrix, started).run()


class _Call:
    """One call."""

    def __init__(self, request: Request, matrix: DeviceMatrix, started: float) -> None:
        self.request, self.matrix, self.started = request, matrix, started
        self.stream = driver.stream(request.array.stream)
        self._keep: Any = None

    def run(self) -> TopK:
        request = self.request
        pointer, stride, query_type, aligned = self.placed_query()
        done: list[TopK] = []
        norms = self.known_norms()
        if norms is None:
            norms, first = self.measured(pointer, query_type, aligned=aligned)
            done.append(first)
        if len(done) < request.n_queries:
            search = self.search(norms, query_type, aligned)
            itemsize = 4 if query_type == "float32" else 8
            for begin in range(len(done), request.n_queries, search.together):
                count = min(search.together, request.n_queries - begin)
                search.begin(
                    pointer + begin * stride * itemsize,
                    stride,
                    count,
                    request.seed,
                    request.epsilon,
                    self.stream,
                )
                done += self.results(search, norms, count)
        if request.single and len(done) == 1:
            return done[0]
        return stack(share_time(done, time.perf_counter() - self.started))

    # -- the query

    def placed_query(self) -> tuple[int, int, str, bool]:
        """Return where the query is on the device: pointer, stride, type, and whether it is aligned."""
        query = self.request.query
        if isinstance(query, DeviceArray):
            stride = query.strides[0] if len(query.shape) == 2 else query.shape[0]
            aligned = query.pointer % 16 == 0 and (
                self.request.n_queries == 1 or stride * query.itemsize % 16 == 0
            )
            if query.stream != self.request.array.stream:
                driver.check(driver.bindings().cuStreamSynchronize(driver.stream(query.stream)))
            return query.pointer, stride, query.dtype, aligned
        width = query.shape[1]
        padded = -(-width // 4) * 4
        own: Array = query
        if padded != width:
            own = np.zeros((len(query), padded), dtype=query.dtype)
            own[:, :width] = query
        self._keep = driver.upload(self.matrix.device, own)
        return self._keep.pointer, padded, query.dtype.name, True

    # -- norms

    def known_norms(self) -> Norms | None:
        """Return the norms that bounds or an earlier pass give; None if the rows must be measured."""
        request, matrix = self.request, self.matrix
        key = bounds_key(request.bounds)
        measured = matrix.norms.get("measured")
        if key in ("none", "scan"):
            return measured
        found = None if key is None else matrix.norms.get(key)
        if found is None:
            found = self.declared_norms()
            if found is not None and key is not None:
                found.bounds = request.bounds  # kept, so that its address names no other
                matrix.norms[key] = found
        if found is None or (request.metric in ("cosine", "sqeuclidean") and not found.exact):
            return measured
        return found

    def declared_norms(self) -> Norms | None:
        """Return norms that the bounds name, checked."""
        request = self.request
        bounds = request.bounds
        known = declared(bounds, request.array)
        if known.norms is None:
            return None
        scanned = isinstance(bounds, Bounds) and bounds.reach is not None
        exact = known.exact_norms is not None
        if request.metric == "sqeuclidean":
            exact = scanned
        equal = bool((known.norms == known.norms[0]).all())
        return Norms(
            np.square(known.norms),
            self.matrix.device,
            known.words,
            exact=exact,
            equal=equal,
            rounding=0.0 if scanned else known.norm_rounding,
        )

    def measured(self, pointer: int, query_type: str, *, aligned: bool) -> tuple[Norms, TopK]:
        """Find the norms in one pass over the rows that answers the first query, too."""
        request, matrix = self.request, self.matrix
        keep = request.array.changes is not None
        arms = None if keep else request.arms
        within = None
        if not (request.bounds is None or isinstance(request.bounds, str)):
            within = limits(declared(request.bounds, request.array), matrix.dtype)
        asked = (pointer, query_type, aligned)
        found = measure(matrix, self.stream, asked, request.metric, arms, within or NO_LIMITS)
        squares, sums = found.squares, found.sums
        if arms is not None:
            squares = np.zeros(matrix.shape[0])
            squares[arms] = found.squares
        elif request.arms is not None:
            sums = sums[request.arms]
        norms = Norms(squares, matrix.device, SCANNED, exact=True, equal=False, rounding=0.0)
        if keep:
            matrix.norms["measured"] = norms
        return norms, self.first_answer(sums, squares, pointer, query_type)

    def first_answer(self, sums: Floats, squares: Floats, pointer: int, query_type: str) -> TopK:
        """Return the exact answer of the first query from the sums of the searched rows."""
        request = self.request
        arms = request.arms
        if request.metric == "cosine":
            own = squares if arms is None else squares[arms]
            self.refuse_directionless(own)
            query = np.empty(self.matrix.shape[1], dtype=query_type)
            driver.download(self.matrix.device, pointer, query, self.stream)
            scores = sums / np.sqrt(own) / _norm(float(np.square(query.astype(np.float64)).sum()))
        else:
            scores = np.abs(sums) if request.metric == "abs-ip" else sums
            if request.row_scale is not None:
                scores = scores * (request.row_scale if arms is None else request.row_scale[arms])
        if request.metric == "sqeuclidean":
            scores = -scores
        best = largest(scores, request.k)
        return self.result(
            scores[best],
            best,
            rows=len(sums),
            blocks=0,
            stages=1,
            choice="every arm was evaluated in the pass that found the norms",
            exact=True,
            norms=None,
        )

    def refuse_directionless(self, squares: Floats) -> None:
        """Raise an error if a row has no direction."""
        if not squares.all():
            at = int(np.argmin(squares != 0))
            row = at if self.request.arms is None else int(self.request.arms[at])
            raise ValueError(
                f"metric='cosine' needs rows with a direction, and data row {row} has norm 0; leave such "
                "rows out with where="
            )

    # -- the search

    def search(self, norms: Norms, query_type: str, aligned: bool) -> Search:
        """Return a search of this kind, kept from an earlier call if it has neither `where` nor `row_scale`."""
        request, matrix = self.request, self.matrix
        kind = {
            "k": request.k,
            "metric": request.metric,
            "delta": request.delta,
            "query_type": query_type,
            "query_aligned": aligned,
            "n_queries": min(request.n_queries, 16),
            "whole": ASKED if request.exact else 0,
        }
        if request.metric == "cosine":
            self.refuse_directionless(
                norms.squares if request.arms is None else norms.squares[request.arms]
            )
        if request.arms is not None or request.row_scale is not None:
            return Search(matrix, norms, arms=request.arms, row_scale=request.row_scale, **kind)
        key = (id(norms), *kind.values())
        found = matrix.searches.get(key)
        if found is None:
            if len(matrix.searches) >= 4:  # each takes its memory
                matrix.searches.clear()
            found = matrix.searches[key] = Search(matrix, norms, **kind)
        return found

    def results(self, search: Search, norms: Norms, count: int) -> list[TopK]:
        """Wait for the answers of some queries and write them down."""
        search.wait(count, self.stream)
        found = []
        for at in range(count):
            work = search.work[at]
            self.refuse_bad(search, work)
            reason = int(work["reason"])
            rows = int(work["rows"]) + search.plan.first_rows
            scores = search.scores[at].copy()
            positions = search.positions[at].astype(np.int64)
            self.refuse_long(scores, self.rows_at(positions), norms, float(work["square"]))
            if self.request.metric == "cosine":
                scores /= _norm(float(work["square"]))
            found.append(
                self.result(
                    scores,
                    positions,
                    rows=rows,
                    blocks=int(work["blocks"]),
                    stages=int(work["stage"]) + 1,
                    choice=REASONS.get(reason, "a race"),
                    exact=reason != 0 and int(work["stage"]) == 0,
                    norms=norms,
                )
            )
        return found

    def refuse_bad(self, search: Search, work: Any) -> None:
        """Raise what the kernels have found to be wrong."""
        epoch = search.epoch
        if work["bad_query"] == epoch:
            raise ValueError("query must be finite")
        if work["bad_norm"] == epoch:
            row = int(work["bad_row"])
            row = row if search.arms is None else int(search.arms[row])
            raise BoundsError(
                f"data row {row} is longer than its norm, or holds values that are not finite"
            )
        if work["bad_score"] == epoch:
            raise ValueError(
                "data or query hold values that are not finite, or too large for a score"
            )

    def refuse_long(self, scores: Floats, rows: Ints, norms: Norms, square: float) -> None:
        """Raise an error if a row of the answer must be longer than its norm, by Cauchy and Schwarz.

        The races notice this of the rows that they read, but not of those that are evaluated at once.
        """
        if self.request.metric == "sqeuclidean":
            return
        allowed = np.full(len(rows), math.sqrt(square))
        if self.request.metric != "cosine":
            allowed *= np.sqrt(norms.squares[rows])
        if self.request.row_scale is not None:
            allowed *= self.request.row_scale[rows]
        long = np.abs(scores) > allowed * (1 + norms.rounding + LEAST_EXCESS)
        if long.any():
            raise BoundsError(f"data row {rows[np.argmax(long)]} is longer than its norm")

    def rows_at(self, positions: Ints) -> Ints:
        """Return the rows at some positions of the searched ones."""
        return positions if self.request.arms is None else self.request.arms[positions]

    # -- the result

    def result(
        self,
        scores: Floats,
        positions: Ints,
        *,
        rows: int,
        blocks: int,
        stages: int,
        choice: str,
        exact: bool,
        norms: Norms | None,
    ) -> TopK:
        request = self.request
        n, width = self.matrix.shape
        searched = n if request.arms is None else len(request.arms)
        numbers = blocks * (64 // self.matrix.itemsize) + rows * width
        certificate = self.certificate(norms, exact=exact)
        work = Work(
            numbers,
            numbers / (searched * width),
            numbers * self.matrix.itemsize,
            stages,
            rows,
            0.0 if request.n_queries > 1 else time.perf_counter() - self.started,
            choice=choice,
        )
        indices = self.rows_at(positions)
        if request.metric == "sqeuclidean":
            scores = -scores
        return TopK(scores, indices, certificate, work, (), "exact" if exact else "race")

    def certificate(self, norms: Norms | None, *, exact: bool) -> Certificate:
        """Return what is guaranteed."""
        request = self.request
        if exact or norms is None:
            declared_norms = norms is not None and request.metric == "cosine" and norms.rounding > 0
            words = (
                "as long as the given norms are the rows' norms"
                if declared_norms
                else NO_ASSUMPTION
            )
            return Certificate(0.0, 0.0, True, "exact", True, words, True)
        words = f"unconditional as long as {norms.words}"
        return Certificate(request.epsilon, request.delta, False, "exact", True, words, True)


def _norm(square: float) -> float:
    """Return the norm of a query that has a direction."""
    if square == 0:
        raise ValueError("metric='cosine' needs a query that is not all zeros")
    return math.sqrt(square)


def largest(scores: Floats, k: int) -> Ints:
    """Return the positions of the k largest scores, ties by the smaller position."""
    cut = np.partition(scores, len(scores) - k)[len(scores) - k]
    some = np.flatnonzero(scores >= cut)
    return some[np.argsort(-scores[some], kind="stable")][:k]


def scan(data: Any, *, threads: Any, save: Any, progress: Any) -> Bounds:
    """Measure the rows of a matrix on a device."""
    refuse_unsupported("scan", {"threads": threads, "progress": progress})
    path = place_to_save(save)
    if path is True:
        raise ValueError("save must name a file for data on a device, got True")
    array = data_on_device(data)
    matrix = matrix_of(data, array)
    with matrix.device.current():
        found = measure(matrix, driver.stream(array.stream), None, "ip", None)
    width = matrix.shape[1]
    bounds = bounds_of_scan(np.zeros(width), np.ones(width), found.largest, np.sqrt(found.squares))
    if path:
        bounds.save(path)
    return bounds
