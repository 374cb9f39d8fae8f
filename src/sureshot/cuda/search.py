"""Launches the kernels of one kind of search on a matrix, again and again with other queries."""

from __future__ import annotations

import ctypes
import itertools
import math
import time
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sureshot.cuda import driver, rounding
from sureshot.cuda import plan as plans
from sureshot.cuda.layout import (
    BEYOND_RANGE,
    FEW_ARMS,
    MERGE_BYTES,
    SHORT_ROWS,
    STATIC_BYTES,
    TICKET_BYTES,
    TILE_WARPS,
    WORK,
    Params,
    Record,
)
from sureshot.cuda.matrix import module
from sureshot.cuda.product import product_of, skim_of
from sureshot.cuda.reference import STEPS_PER_LEVEL

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints
    from sureshot.cuda.matrix import DeviceMatrix, Norms

# The kernels of a search in the order of their launches, and the stage of each.
KERNELS = (
    ("first", 0),
    ("race", 1),
    ("exact", 1),
    ("race_on", 2),
    ("exact", 2),
    ("race_on", 3),
    ("last", 3),
)
# All of them but the first and the last, where nothing is bet.
WITHOUT_RACES = (KERNELS[0], KERNELS[-1])

# Queries that share their launches.
MOST_QUERIES = 16

# Launches are numbered; with its stage each number must fit into 32 bits.
MOST_EPOCHS = 2**30 - 2

# How long to look at the host's memory for the answer without rest, and how long each rest is then.
SPIN_SECONDS = 0.1
NAP_SECONDS = 0.0005


class SearchKind(NamedTuple):
    """What the searches that share buffers and launches have in common."""

    k: int
    metric: str
    delta: float
    query_type: str
    query_aligned: bool
    n_queries: int
    whole: int = 0  # why every arm is evaluated


class Search:
    """A kind of search on a matrix: buffers on the device, and launches that need only a query."""

    def __init__(
        self,
        matrix: DeviceMatrix,
        norms: Norms,
        kind: SearchKind,
        *,
        arms: Ints | None = None,
        row_scale: Floats | None = None,
    ) -> None:
        k, metric, delta = kind.k, kind.metric, kind.delta
        on = self.device = matrix.device
        rows, width = matrix.shape
        n = rows if arms is None else len(arms)
        plan = plans.plan_of(n, width, k, matrix.itemsize)
        single = kind.n_queries == 1
        self.product = (
            skim_of(width, matrix.itemsize)
            if single
            else product_of(n, width, matrix.itemsize, tops_known=norms.tops is not None)
        )
        # On a card with too little shared memory each query of a batch has a pass of its own.
        self.multiplies = max(self.product.kernels.values()) + STATIC_BYTES <= on.shared_memory
        whole = _reason(plan, n, norms, k, delta)
        if single:
            self.multiplies = self.multiplies and plan.skimmed and whole != BEYOND_RANGE
        if kind.whole and (whole != BEYOND_RANGE or single):
            whole = kind.whole  # else the product of a batch must know that it is none for float32
        # One kernel does all for a single query, if every arm is evaluated and there are not too many.
        self.alone = bool(whole) and single and n <= plans.WHOLE_ARMS
        if not whole and not single and self.multiplies and not plan.races(kind.n_queries):
            whole = SHORT_ROWS
        if whole and not self.alone:
            # Of few rows all are listed by their products; of many, a threshold keeps the list short.
            many = max(plan.first_rows, plans.MANY_FIRST_ROWS) if n > plans.WHOLE_ARMS else 0
            plan = replace(plan, first_rows=many)
        self.plan = plan
        self.k, self.n, self.width = k, n, width
        self.norms = norms  # kept: the kernels read them
        self.arms = arms
        aligned = matrix.aligned and kind.query_aligned
        p = self.params = Params()
        p.data, p.stride, p.width, p.n, p.k = matrix.pointer, matrix.strides[0], width, n, k
        p.blocks = plan.n_blocks
        p.first, p.slot_count, p.direct = plan.first_rows, plan.slots, plan.direct
        p.few = max(plan.first_rows, plan.slots, plan.direct, 256)
        if self.alone:
            p.few = max(p.few, min(n, 4 * self._blocks(1)))
        p.pieces, p.piece = plans.pieces_of(width, plan.chunk)
        p.low, p.high, p.second = plan.short_cap, plan.long_cap, plan.second_cap
        p.third = plan.last_cap
        p.padded, p.parts, p.steps = self.product.padded, self.product.parts, self.product.steps
        p.product_share = self.product.share
        p.sample_stride = max(1, n // plans.COST_SAMPLE)
        p.samples = min(plans.COST_SAMPLE, -(-n // p.sample_stride))
        p.least_pruned = plan.least_pruned
        p.whole = whole
        p.level = rounding.level(k, delta, plan.steps)
        p.per_spread = float(STEPS_PER_LEVEL * np.float32(math.log2(k / delta)))
        p.most_cost = plans.MOST_COST
        p.raised = (1 + rounding.square_share(plan.chunk, plan.steps)) * (1 + norms.rounding) ** 2
        p.square = norms.memory.pointer
        self._memory: list[Any] = []
        p.rows = 0 if arms is None else self._uploaded(arms.astype(np.int32))
        p.factor = 0 if row_scale is None else self._uploaded(row_scale)
        p.leaders = self._uploaded(self._leaders(metric, row_scale).astype(np.int32))
        p.inverse = self._uploaded(_inverses(plan.draws))
        if kind.n_queries > 1 and self.product.integers:
            p.grid_of_row = norms.grids(on).pointer
        self._reserve(matrix.most_memory, kind.n_queries)
        with on.current():
            code = module(
                on.number, "search", matrix.dtype, kind.query_type, metric, aligned=aligned
            )
            shared = {
                "whole": MERGE_BYTES,
                "first": max(TICKET_BYTES, MERGE_BYTES),
                "race": 0,
                "race_on": 0,
                "exact": MERGE_BYTES + 4 * plan.slots,
                "last": MERGE_BYTES,
            }
            named = {name: driver.Kernel(code, name, size) for name, size in shared.items()}
            self.whole = named["whole"]
            used = WITHOUT_RACES if whole else KERNELS
            self.kernels = [(named[name], stage) for name, stage in used]
            self.multiplying = (
                [driver.Kernel(code, name, size) for name, size in self.product.kernels.items()]
                if self.multiplies
                else []
            )
        self._launches = driver.Launches(on, p, plans.THREADS)
        self._epoch = 0
        self._stream: Any = None

        self._matrix = weakref.ref(matrix)
        self._kind, self._row_scale = kind, row_scale

    def alone_again(self) -> Search:
        """Return a search for one query, for one that the lists of a batch have no room for."""
        matrix = self._matrix()
        assert matrix is not None, "a search is used while its matrix is"
        kind = self._kind._replace(n_queries=1)
        return Search(matrix, self.norms, kind, arms=self.arms, row_scale=self._row_scale)

    def _blocks(self, count: int) -> int:
        """Return how many blocks of threads work on each of so many queries."""
        return max(2, 2 * self.device.processors // count)

    def _taken(self, size: int) -> int:
        memory = driver.Memory(self.device, size)
        self._memory.append(memory)
        return memory.pointer

    def _uploaded(self, values: Array) -> int:
        memory = driver.upload(self.device, values)
        self._memory.append(memory)
        return memory.pointer

    def _leaders(self, metric: str, row_scale: Floats | None) -> Ints:
        """Return the positions of the rows that are evaluated first: those that can reach the largest scores."""
        count = self.plan.first_rows
        if count == 0:
            return np.empty(0, dtype=np.int64)
        if metric in ("cosine", "sqeuclidean") or self.norms.equal:
            return np.arange(count) * self.n // count
        squares = self.norms.squares if self.arms is None else self.norms.squares[self.arms]
        if row_scale is not None:
            scale = row_scale if self.arms is None else row_scale[self.arms]
            squares = squares * (scale * scale)
        # The largest, ties by the smaller position; sorting all of millions would take long.
        if count < self.n:
            cut = np.partition(squares, self.n - count)[self.n - count]
            some = np.flatnonzero(squares >= cut)
        else:
            some = np.arange(self.n)
        return some[np.argsort(-squares[some], kind="stable")][:count]

    def _reserve(self, most: int, n_queries: int) -> None:
        """Take the memory of as many queries as share their launches, within the limit."""
        p, plan = self.params, self.plan
        fixed = {
            "weights": 8 * plan.n_blocks,
            "order": 16 * (plan.draws + 1),
            "drawn_blocks": 4 * plan.draws,
            "drawn": 4 * plan.draws * plan.block,
            "slots": 16 * plan.slots,
            "sample": 16 * p.samples,
            "mark": 0 if p.whole and self.multiplies else 4 * self.n,
            "partial": 8 * p.few * p.pieces * plans.WARPS,
        }
        listed = self.n
        if self.multiplies:
            fixed |= self.product.memory | {"lows": 8 * plans.GROUPS}
            if self.product.packed:
                p.packed = self._taken(self.product.packed)
            if n_queries > 1:
                listed = plans.list_room(self.n, self.k, plan.first_rows)
        p.best_capacity = listed + plans.MOST_ARMS
        fixed |= {"best_arm": 4 * p.best_capacity, "best_score": 8 * p.best_capacity}
        most_left = self.n
        if p.whole:
            most_left = max(p.few, min(self.n, plans.SHORTEST_RECORDS) if self.multiplies else 0)
        each = sum(fixed.values()) + 64 * most_left
        used = sum(memory.size for memory in self._memory) + self.norms.memory.size
        self.together = max(1, min(n_queries, MOST_QUERIES, (most - used) // each))
        left = (most - used) // self.together - sum(fixed.values())
        p.capacity = max(p.few, min(most_left, left // 64))
        sizes = {**fixed, "records": 64 * p.capacity, "work": WORK.itemsize}
        for name, size in sizes.items():
            if size:
                setattr(p, name, self._taken(size * self.together))
        self.memory = sum(memory.size for memory in self._memory)
        out = self.together * np.array([8 * self.k, WORK.itemsize, 4 * self.k])
        starts = np.concatenate([[0], np.cumsum(out)]).tolist()
        self._pinned = driver.Pinned(self.device, starts[-1])
        p.out_score, p.out_work, p.out_arm = (self._pinned.pointer + start for start in starts[:3])
        parts = [self._pinned.bytes[a:b] for a, b in itertools.pairwise(starts)]
        self.scores = parts[0].view(np.float64).reshape(self.together, self.k)
        self.work = parts[1].view(WORK)
        self.positions: Any = parts[2].view(np.int32).reshape(self.together, self.k)
        size, place = WORK.itemsize, self._pinned.address + starts[1]
        self.records = [Record.from_address(place + i * size) for i in range(self.together)]
        self._done = [
            memoryview((ctypes.c_uint32 * 1).from_address(place + (i + 1) * size - 4))
            .cast("B")
            .cast("I")
            for i in range(self.together)
        ]

    def begin(
        self, query: int, stride: int, count: int, seed: int, epsilon: float, stream: Any
    ) -> None:
        """Launch the kernels for `count` queries that lie `stride` elements apart."""
        p = self.params
        if self._stream is not None and self._stream is not stream:
            # Kernels that had nothing left to do may still wait there, and would read what is written now.
            driver.check(driver.bindings().cuStreamSynchronize(self._stream))
        self._stream = stream
        self._epoch = self._epoch % MOST_EPOCHS + 1
        p.query, p.query_stride, p.seed = query, stride, seed
        p.epsilon, p.epoch = epsilon, self._epoch
        p.grid = self._blocks(count)
        p.batch = count if self._kind.n_queries > 1 and self.multiplies else 0
        if self.alone:
            self._launches.run(self.whole, (p.grid, 1), stream)
            return
        # The queries of a batch share the pass that a second chance may save: it must cost as little for all of them.
        p.chance = self.plan.chance(count)
        follow, grid = self._launches.follow, (p.grid, count)
        (first, _), *others, (last, _) = self.kernels
        self._launches.run(first, grid, stream)
        for kernel, stage in others:
            p.stage = stage
            follow(kernel, grid, stream)
        if p.batch:
            prepare, multiply, screen = self.multiplying
            across = self.product.blocks_of_processor * self.device.processors
            follow(prepare, grid, stream)
            follow(multiply, (across, 1), stream, 32 * TILE_WARPS)
            follow(screen, grid, stream)
        elif self.multiplies:
            for kernel in self.multiplying:
                follow(kernel, grid, stream)
        follow(last, grid, stream)

    def wait(self, count: int, stream: Any) -> None:
        """Wait until the answers of so many queries are in the host's memory."""
        epoch = self._epoch
        until = 0.0
        for done in self._done[:count]:
            while done[0] != epoch:
                now = time.perf_counter()
                if until == 0.0:
                    until = now + SPIN_SECONDS
                elif now > until:
                    self._look(stream)

    def _look(self, stream: Any) -> None:
        """Rest a moment, or raise what went wrong on the device."""
        status = int(driver.bindings().cuStreamQuery(stream)[0])
        if status not in (0, 600):  # done, or not ready
            driver.check(driver.bindings().cuStreamQuery(stream))
        time.sleep(NAP_SECONDS)

    def works(self, count: int) -> Array:
        """Return a copy of the records of so many queries; as bytes, since numpy copies records field by field."""
        return self.work[:count].view(np.uint8).copy().view(WORK)

    @property
    def epoch(self) -> int:
        """The number of the last launch."""
        return self._epoch


def _reason(plan: plans.Plan, n: int, norms: Norms, k: int, delta: float) -> int:
    """Return why every arm is evaluated, if that is known beforehand."""
    within = rounding.LEAST_NORM <= norms.largest <= rounding.MOST_NORM
    within = within and plan.n_blocks <= rounding.MOST_BLOCKS
    if not within or math.log2(k / delta) > rounding.MOST_LEVEL:
        return BEYOND_RANGE
    if n <= max(plan.first_rows, plan.direct):
        return FEW_ARMS
    return SHORT_ROWS if plan.n_blocks < plans.FEWEST_BLOCKS else 0


def _inverses(draws: int) -> Array:
    """Return 1 / s and 1 / (s - 1) for every number of steps, in float32."""
    count = np.arange(draws + 1, dtype=np.float32)
    one = np.float32(1)
    return np.stack([one / np.maximum(count, one), one / np.maximum(count - one, one)], axis=1)
