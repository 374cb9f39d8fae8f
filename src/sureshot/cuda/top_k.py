"""The top k of a matrix on a device: from the arguments of a call to its result."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._validate.running import place_to_save
from sureshot.bounds import Bounds, bounds_of_scan
from sureshot.cuda import driver, quick
from sureshot.cuda.answers import Kind, exact_certificate
from sureshot.cuda.arrays import DeviceArray
from sureshot.cuda.layout import ASKED, SMALL_DATA
from sureshot.cuda.matrix import Norms, matrix_of
from sureshot.cuda.measuring import NO_LIMITS, measure
from sureshot.cuda.queries import Queries, answered
from sureshot.cuda.request import bounds_key, data_on_device, declared, limits, refuse_unsupported
from sureshot.cuda.search import MOST_QUERIES, Search, SearchKind
from sureshot.result import TopK, Work, share_time, stack

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints
    from sureshot.cuda.matrix import DeviceMatrix
    from sureshot.cuda.request import Request

SCANNED = "the data is what was scanned"

MEASURED = "every arm was evaluated in the pass that found the norms"
BY_COLUMN = "every arm was evaluated: the values of columns, and not of rows, lie side by side"


def top_k(request: Request, started: float) -> TopK:
    """Search a matrix on a device."""
    matrix = matrix_of(request.data, request.array)
    with matrix.lock, matrix.device.current():
        call = _Call(request, matrix, started)
        result = call.run()
        if call.searched is not None:
            quick.remember(request, matrix, *call.searched)
    return result


class _Call:
    """One call."""

    def __init__(self, request: Request, matrix: DeviceMatrix, started: float) -> None:
        self.request, self.matrix, self.started = request, matrix, started
        self.stream = driver.stream(request.array.stream)
        self._keep: Any = None
        self.searched: tuple[Search, Kind] | None = None

    def run(self) -> TopK:
        """Search, and write down the result."""
        request = self.request
        pointer, stride, query_type, aligned = self.placed_query()
        if self.matrix.by_column:
            return self.by_columns(pointer, stride, query_type)
        first = None
        norms = self.known_norms()
        if norms is None:
            norms, first = self.measured(pointer, query_type, aligned=aligned)
            if request.n_queries == 1:
                return first if request.single else stack([first])
        search = self.search(norms, query_type, aligned)
        kind = Kind.of(request, search, norms)
        self.searched = (search, kind)
        queries = Queries(
            pointer,
            stride,
            np.dtype(query_type).itemsize,
            request.n_queries,
            request.single,
            request.seed,
            request.epsilon,
        )
        return answered(queries, search, kind, self.stream, self.started, first)

    def by_columns(self, pointer: int, stride: int, query_type: str) -> TopK:
        """Answer each query by a pass over data whose columns lie side by side: parts of rows are no blocks there."""
        request = self.request
        itemsize = np.dtype(query_type).itemsize
        done = [
            self.measured(pointer + at * stride * itemsize, query_type, aligned=False)[1]
            for at in range(request.n_queries)
        ]
        if request.single:
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
            tops=_tops(bounds) if scanned else None,
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
        tops = found.largest if arms is None else None
        norms = Norms(
            squares, matrix.device, SCANNED, exact=True, equal=False, rounding=0.0, tops=tops
        )
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
        numbers = len(sums) * self.matrix.shape[1]
        work = Work(
            numbers,
            1.0,
            numbers * self.matrix.itemsize,
            1,
            len(sums),
            time.perf_counter() - self.started,
            choice=BY_COLUMN if self.matrix.by_column else MEASURED,
        )
        shown = -scores[best] if request.metric == "sqeuclidean" else scores[best]
        rows = best if arms is None else arms[best]
        return TopK(shown, rows, exact_certificate(), work, (), "exact")

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
        kind = SearchKind(
            k=request.k,
            metric=request.metric,
            delta=request.delta,
            query_type=query_type,
            query_aligned=aligned,
            n_queries=min(request.n_queries, MOST_QUERIES),
            whole=ASKED if request.exact else SMALL_DATA if matrix.small else 0,
        )
        if request.metric == "cosine":
            self.refuse_directionless(
                norms.squares if request.arms is None else norms.squares[request.arms]
            )
        if request.arms is not None or request.row_scale is not None:
            return Search(matrix, norms, kind, arms=request.arms, row_scale=request.row_scale)
        key = (id(norms), kind)
        found = matrix.searches.get(key)
        if found is None:
            found = Search(matrix, norms, kind)
            matrix.keep(key, found)
        return found


def _norm(square: float) -> float:
    """Return the norm of a query that has a direction."""
    if square == 0:
        raise ValueError("metric='cosine' needs a query that is not all zeros")
    return math.sqrt(square)


def _tops(scanned: Bounds) -> Floats:
    """Return what no value of a row exceeds, by a scan."""
    assert scanned.reach is not None
    assert scanned.scale is not None
    assert scanned.middle is not None
    farthest: Floats = scanned.reach * scanned.scale.max() + np.abs(scanned.middle).max()
    return farthest * (1 + 1e-9)


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
