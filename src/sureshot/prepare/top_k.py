"""Makes a request of `top_k` ready: team, scan, blocks, and the problem of each query."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot import _native
from sureshot._native import Team
from sureshot._validate.request import DISTANCES
from sureshot.blocks import Blocks
from sureshot.bounds import numbers_in_scan
from sureshot.prepare.block_size import (
    COLUMNS_FOR_NORMS,
    COLUMNS_WITHOUT_LIMITS,
    LARGE_ARRAY,
    choose_blocks,
)
from sureshot.prepare.query_range import all_in_range, in_range
from sureshot.prepare.reward_intervals import choose_intervals, norms_suit
from sureshot.prepare.scanning import scanned_bounds
from sureshot.search import cosine
from sureshot.search.batch import Batch
from sureshot.search.budget import deadline_in, numbers_of
from sureshot.search.condition import assumption
from sureshot.search.problem import Problem, Tally
from sureshot.sources.dense import DenseSource, is_coordinate_major
from sureshot.sources.norms import PromisedNorms
from sureshot.sources.partitioned import PartitionedSource
from sureshot.sources.stored import StoredSource
from sureshot.storage.base import Stored
from sureshot.storage.matrix import Matrix
from sureshot.storage.partitioned import Partitioned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array, Floats
    from sureshot._validate.bounds import KnownBounds
    from sureshot._validate.request import TopKRequest
    from sureshot.search.condition import Condition
    from sureshot.sources.base import QuerySource
    from sureshot.theory.intervals import Intervals

# What the kernels sum for each metric.
REWARD_OF_METRIC = {
    "ip": "ip",
    "abs-ip": "ip",
    "cosine": "ip",
    "sqeuclidean": "sqeuclidean",
    "l1": "l1",
}


def prepare_top_k(request: TopKRequest) -> PreparedQueries:
    """Start the threads, read what must be read before the search, and choose the blocks."""
    team = Team(request.threads)
    if request.data.nbytes >= LARGE_ARRAY:
        team.start()  # Threads take their time to wake up: meanwhile the problem is set up.
    bounds, numbers_scanned = request.bounds, 0
    if bounds is None:
        bounds = scanned_bounds(request.data, request.arms, team)
        numbers_scanned = numbers_in_scan(len(request.arms), request.data.shape[1])
    elif bounds.fingerprint is not None:
        bounds.fingerprint.check(request.data)
    columns = _columns_together(request, bounds, team)
    blocks = choose_blocks(request.data, request.block, request.method, columns=columns)
    return PreparedQueries(request, team, bounds, blocks, numbers_scanned)


@dataclass(frozen=True, slots=True)
class PreparedQueries:
    """What the queries of one call share, and how the problem of each is put together."""

    request: TopKRequest
    team: Team
    bounds: KnownBounds
    blocks: Blocks
    numbers_scanned: int

    @property
    def threads(self) -> int:
        """How many threads may search different queries at the same time.

        A progress function is called from the caller's own thread only.
        """
        return 1 if self.request.progress else self.request.threads

    @property
    def need_norms(self) -> bool:
        """Whether the norms of the rows must be computed."""
        return self.request.metric == "cosine" and self.bounds.exact_norms is None

    def check_unchanged(self) -> None:
        """Raise `StorageError` if stored data has changed while it was searched."""
        if isinstance(self.request.data, Matrix):
            self.request.data.check_unchanged()
        if self.bounds.fingerprint is not None:
            self.bounds.fingerprint.check(self.request.data)

    def problem(
        self, query: int, team: Team, computed_norms: Floats | None
    ) -> tuple[Problem, Tally]:
        """Return the problem of one query, to be searched by that team, and its tally.

        `computed_norms` are those of the searched rows, for cosines, if this call had to compute them.
        """
        values, unit = self.request.queries[query], 1.0
        if self._scaled(values.dtype):
            values, unit = in_range(values, exactly=self.request.metric != "cosine")
        return self._problem(values, unit, team, computed_norms), self.tally(query)

    def _scaled(self, dtype: np.dtype[Any]) -> bool:
        """Return whether queries of a type may have to be scaled.

        No number of float32 has a square that is too large or too small.
        """
        return dtype == np.float64 and self.request.metric not in DISTANCES

    @property
    def sign(self) -> float:
        """What turns scores into what is returned: -1 for distances."""
        return -1.0 if self.request.metric in DISTANCES else 1.0

    def tally(self, query: int) -> Tally:
        """Return the tally of a query that has not begun."""
        tally = Tally(query, self.request.progress, sign=self.sign)
        if query == 0:
            tally.numbers_read = tally.numbers_scanned = self.numbers_scanned
        return tally

    def batch(self, which: Sequence[int], computed_norms: Floats | None, like: Problem) -> Batch:
        """Return some of the queries as one table, given the problem of one of them.

        Norms of rows that are needed must be known.
        """
        some = slice(which.start, which.stop) if isinstance(which, range) else which
        queries, units, sizes = self.request.queries[some], None, self.request.query_sizes
        if sizes is not None:
            sizes = sizes.part(some)
        if self._scaled(queries.dtype):
            queries, units = all_in_range(
                queries, self.team, exactly=self.request.metric != "cosine"
            )
        if self.request.metric != "cosine":
            return Batch(like, queries, units, self.request.row_scale, sizes=sizes)
        norms = self.bounds.exact_norms if computed_norms is None else computed_norms
        assert norms is not None, "a batch by cosine has norms"
        query_norms = cosine.norms_of(queries, self.team)
        cosine.refuse_norms(norms, self.request.arms, *_native.extremes(query_norms))
        return Batch(like, queries, norms=norms, query_norms=query_norms, sizes=sizes)

    def _problem(
        self, query: Array, unit: float, team: Team, computed_norms: Floats | None
    ) -> Problem:
        request, bounds, blocks = self.request, self.bounds, self.blocks
        n_arms, query_norm = len(request.arms), None
        factors = request.row_scale
        if unit != 1.0:
            factors = np.full(n_arms, unit) if factors is None else factors * unit
        promised = score_condition = None
        if request.metric == "cosine":
            norms = bounds.exact_norms if computed_norms is None else computed_norms
            query_norm = cosine.norm_of(query, team)
            if norms is None:
                factors = np.full(n_arms, np.nan)  # found with the norms
            else:
                factors, query_norm = cosine.factors(norms, request.arms, query_norm), None
            if bounds.exact_norms is not None:
                promised = PromisedNorms(request.arms, bounds.exact_norms, bounds.norm_rounding)
                score_condition = assumption(bounds.norm_words)

        reward = REWARD_OF_METRIC[request.metric]
        source = _source(request.data, query, reward, blocks, team, promised)

        def known() -> tuple[Intervals, Condition]:
            with np.errstate(over="ignore", invalid="ignore"):
                return choose_intervals(
                    request.metric,
                    query,
                    bounds,
                    computed_norms,
                    request.method,
                    blocks,
                    n_arms,
                    team,
                )

        return Problem(
            source=source,
            arms=request.arms,
            factors=factors,
            k=request.k,
            epsilon=request.epsilon,
            delta=request.delta,
            known=known,
            score_condition=score_condition,
            query_norm=query_norm,
            replacement=request.replacement,
            budget=numbers_of(request.budget, n_arms * request.data.shape[1]),
            deadline=deadline_in(request.budget_seconds),
            team=team,
            signs=(1.0, -1.0) if request.metric == "abs-ip" else (1.0,),
            expected_score=(
                -math.inf if request.expected_score is None else self.sign * request.expected_score
            ),
        )


def _columns_together(request: TopKRequest, bounds: KnownBounds, team: Team) -> int:
    """Return how many columns are read together where a column is contiguous.

    The first query decides for all of them. Blocks save time, not numbers: under a budget coordinates are read one by one.
    """
    data = request.data
    in_columns = (
        isinstance(data, np.ndarray) and is_coordinate_major(data) and request.budget is None
    )
    if bounds.norms is not None or request.metric == "cosine":
        if not bounds.limits_known:
            return COLUMNS_FOR_NORMS
        blocks = Blocks(data.shape[1], min(COLUMNS_FOR_NORMS, data.shape[1]))
        by_norms = (in_columns and request.metric not in DISTANCES) and norms_suit(
            request.queries[0], bounds, request.method, blocks, len(request.arms), team
        )
        return COLUMNS_FOR_NORMS if by_norms else 1
    return columns_without_norms(request.metric, bounds) if in_columns else 1


def columns_without_norms(metric: str, bounds: KnownBounds) -> int:
    """Return how many contiguous columns are read together where no norms are known, and nothing is limited."""
    estimated = not bounds.limits_known and metric not in DISTANCES
    return COLUMNS_WITHOUT_LIMITS if estimated else 1


def _source(
    data: Array | Matrix,
    query: Array,
    reward: str,
    blocks: Blocks,
    team: Team,
    promised: PromisedNorms | None,
) -> QuerySource:
    if isinstance(data, np.ndarray):
        return DenseSource(data, query, reward, blocks, team, promised)
    widened = query.astype(np.float64, copy=False)
    if isinstance(data, Partitioned):
        return PartitionedSource(data, widened, reward, blocks, team, promised)
    assert isinstance(data, Stored), "a matrix is stored or partitioned"
    return StoredSource(data, widened, reward, blocks, team, promised)
