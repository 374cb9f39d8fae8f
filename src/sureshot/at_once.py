"""Answers a query, or a small batch, of an array in memory in one native call, where every row is evaluated anyway.

Such an answer takes tens of microseconds, and most of these would be spent on setting up a search: sources, problems and
tallies, which there is nothing to do for. The answer, its certificate and its work are those of that search.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot import _native
from sureshot._elements import for_kernels
from sureshot._native import Operand, Team
from sureshot._validate.request import DISTANCES
from sureshot.blocks import Blocks
from sureshot.prepare.block_size import LARGE_ARRAY, choose_blocks, size_by_row
from sureshot.prepare.top_k import REWARD_OF_METRIC, columns_without_norms
from sureshot.result import RoundInfo, TopK
from sureshot.search import certificate, exact, product, screen
from sureshot.search.batch import BatchAnswer
from sureshot.search.batch_results import BatchResults
from sureshot.search.condition import assumption
from sureshot.search.cosine import SMALLEST_NORM
from sureshot.search.exact_batch import CHEAP, EVALUATED, MULTIPLIED, is_small
from sureshot.search.methods import METHODS
from sureshot.search.race.choice import Sizes
from sureshot.search.run import Searched
from sureshot.sources.costs import in_memory
from sureshot.sources.dense import are_scattered
from sureshot.sources.norms import leeway_of, screened_leeway_of
from sureshot.sources.screening import rounded_float
from sureshot.sources.values import REWARDS
from sureshot.theory.products import LARGEST_NORM, LARGEST_SCALE, LARGEST_SIZE, SMALLEST_SIZE

if TYPE_CHECKING:
    from sureshot._types import Array, Floats
    from sureshot._validate.request import TopKRequest


# No budget, no budget in seconds and no progress to report.
NO_LIMITS = (None, None, None)

# Products of numbers, at most, of a batch that is answered at once, some milliseconds: what a search takes besides is
# hardly noticed where there are more, and an answer that is found to take one is begun anew.
MOST_PRODUCTS = 1 << 28


def answer_at_once(request: TopKRequest, started: float) -> TopK | None:
    """Answer a request that was begun at `started`, by `time.perf_counter`; None if it takes a search.

    So it does, too, if anything is wrong with the numbers: the search says what.
    """
    data, bounds = request.data, request.bounds
    if bounds is None or bounds.fingerprint is not None:
        return None
    if not isinstance(data, np.ndarray) or min(data.shape) == 1:
        return None
    by_column = data.flags.f_contiguous
    if not (data.flags.c_contiguous or by_column):
        return None
    if request.queries.dtype != np.float32:
        return None
    if (request.budget, request.budget_seconds, request.progress) != NO_LIMITS:
        return None
    choice = (_why_by_column if by_column else _why_everything)(data, request)
    if choice is None:
        return None
    return (
        _one(data, request, choice, started) if request.single else _batch(data, request, started)
    )


def _why_everything(data: Array, request: TopKRequest) -> str | None:
    """Return why every arm is evaluated, in words; None if it is not."""
    method, n_arms, k = request.method, len(request.arms), request.k
    if len(data) == 1 or data.nbytes >= LARGE_ARRAY:  # then blocks depend on strides or the address
        blocks = choose_blocks(data, request.block, method)
        return _by_sizes(method.name, n_arms, blocks, k, data.itemsize)
    return _by_row(method.name, n_arms, data.shape[1], k, data.itemsize, request.block)


def _why_by_column(data: Array, request: TopKRequest) -> str | None:
    """Return the same of data that lies in memory column by column. With norms it takes sums over the query to decide."""
    method, bounds, columns = request.method, request.bounds, 1
    assert bounds is not None, "nothing is scanned here"
    if method.samples:
        if bounds.norms is not None or request.metric == "cosine":
            return None
        columns = columns_without_norms(request.metric, bounds)
    blocks = choose_blocks(data, request.block, method, columns=columns)
    return _by_sizes(
        method.name, len(request.arms), blocks, request.k, data.itemsize, by_column=True
    )


@lru_cache(maxsize=64)  # to decide takes longer than to look it up
def _by_row(
    method: str, n_arms: int, width: int, k: int, itemsize: int, block: int | None
) -> str | None:
    """Return the same of small data that lies in memory row by row."""
    size = size_by_row(block, METHODS[method], width, itemsize)
    return _by_sizes(method, n_arms, Blocks(width, size), k, itemsize)


@lru_cache(maxsize=64)
def _by_sizes(
    method: str, n_arms: int, blocks: Blocks, k: int, itemsize: int, *, by_column: bool = False
) -> str | None:
    costs = in_memory(blocks.size, itemsize, coordinate_major=by_column)
    sizes = Sizes(n_arms, blocks.n_coordinates, blocks.count, k, costs)
    return METHODS[method].why_everything(sizes)


def _team(data: Array, threads: int) -> Team:
    team = Team(threads)
    if data.nbytes >= LARGE_ARRAY:
        team.start()
    return team


def _one(data: Array, request: TopKRequest, choice: str, started: float) -> TopK | None:
    """Answer a single query."""
    bounds, query, arms = request.bounds, request.queries[0], request.arms
    assert bounds is not None, "nothing is scanned here"
    width, metric, k = data.shape[1], request.metric, request.k
    cosines, exact_norms = metric == "cosine", bounds.exact_norms
    if cosines and (exact_norms is None or data.dtype == np.float64):
        return None
    if len(arms) > exact.arms_at_once(width):
        return None
    team = _team(data, request.threads)
    reward = REWARD_OF_METRIC[metric]
    values, element = for_kernels(data)
    by_column = not data.flags.c_contiguous
    screened = norms = None
    if (
        data.itemsize < 8
        and screen.pays_alone(
            len(arms), width, k, data.itemsize, by_column=by_column, norms=cosines
        )
        and not (by_column and are_scattered(arms))
    ):
        rounded = rounded_float(reward, query)
        if rounded is None:
            return None
        terms = screen.error_terms(reward, rounded, width)
        first = screen.first_arms(len(arms), width, k, by_column=by_column)
        screened = (*terms, first, screen.largest_share(by_column=by_column))
    if cosines and exact_norms is not None:
        rounding = bounds.norm_rounding
        norms = (exact_norms, SMALLEST_NORM, screened_leeway_of(rounding), leeway_of(rounding))
    indices, scores = np.empty(k, dtype=np.int64), np.empty(k)
    found = _native.exact_best(
        values,
        element,
        REWARDS[reward],
        query,
        arms,
        team,
        screen=screened,
        absolute=metric == "abs-ip",
        scale=request.row_scale,
        norms=norms,
        best_arms=indices,
        best_scores=scores,
    )
    if found is None:
        return None
    n_screened, n_evaluated = found
    numbers = (n_screened + n_evaluated) * width
    scores = 0.0 - scores if metric in DISTANCES else 0.0 + scores  # a zero is 0.0, never -0.0
    return TopK(
        scores=scores,
        indices=indices,
        certificate=certificate.exact_on(assumption(bounds.norm_words) if cosines else None),
        work=Searched(arms, width, data.itemsize).work(
            numbers,
            rounds=1,
            exact_scores=n_evaluated,
            seconds=time.perf_counter() - started,
            choice=choice,
        ),
        rounds=(RoundInfo(0, 1, 0, 0, width, numbers, float(scores[-1])),),
        algorithm="exact",
    )


def _moderate(row_scale: Floats | None) -> bool:
    """Return whether products may be scaled by these factors."""
    if row_scale is None:
        return True
    smallest, largest = _native.extremes(row_scale)
    return smallest > 1 / LARGEST_SCALE and largest < LARGEST_SCALE


def _batch(data: Array, request: TopKRequest, started: float) -> TopK | None:
    """Answer several queries, by products in float32 or by every score in double."""
    queries, arms, metric = request.queries, request.arms, request.metric
    n_arms, width, count, k = len(arms), data.shape[1], len(queries), request.k
    if metric == "cosine" or data.itemsize == 8 or n_arms * width * count > MOST_PRODUCTS:
        return None
    reward = REWARD_OF_METRIC[metric]
    multiplies, choice = False, EVALUATED
    shared = reward in product.REWARDS and count > 1
    if shared and not product.enough_arms(n_arms, k):
        choice = CHEAP if n_arms <= product.MOST_ARMS_EVALUATED else EVALUATED
    elif shared:
        together = product.queries_together(width, k, scaled=request.row_scale is not None)
        if count > min(together, _native.queries_together(count, width, n_arms)):
            return None
        rows = product.Rows(wide=False, by_column=not data.flags.c_contiguous)
        cost = product.cost_of_product(n_arms, width, k, count, rows)
        evaluated = min(count, product.queries_evaluated(n_arms))
        multiplies = cost < product.cost_of_all(n_arms, width, evaluated, reward, rows)
        choice = MULTIPLIED if multiplies else CHEAP
    if multiplies and not _moderate(request.row_scale):
        return None
    if choice is EVALUATED and not is_small(n_arms, width):
        return None
    team = _team(data, request.threads)
    values, element = for_kernels(data)
    found = BatchAnswer.empty(count, k, np.empty(count, np.int64))
    common: dict[str, Any] = {
        "scale": request.row_scale,
        "both_signs": metric == "abs-ip",
        "positions": found.positions,
        "scores": found.scores,
        "evaluated": found.evaluated,
    }
    if multiplies:
        operand = Operand(queries, team, n_arms)
        done = operand.best(
            values,
            element,
            REWARDS[reward],
            arms,
            team,
            terms=product.kernel_terms(width, operand.roundings, reward),
            sizes=(SMALLEST_SIZE, LARGEST_SIZE),
            largest_square=LARGEST_NORM**2,
            most=product.most_candidates(n_arms),
            rows=product.rows_at_once(count),
            **common,
        )
    else:
        done = _native.best_by_scores(
            values, element, REWARDS[reward], queries, arms, team, **common
        )
    if not done:
        return None
    results = BatchResults(
        searched=Searched(arms, width, data.itemsize),
        answer=found,
        certificate=certificate.exact_on(None),
        choice=choice,
        numbers_screened=n_arms * width if multiplies else 0,
        seconds=time.perf_counter() - started,
    )
    return results.table(-1.0 if metric in DISTANCES else 1.0, 0, results.seconds)
