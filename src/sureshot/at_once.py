"""Answers a single query of an array in memory in one native call, where every row is evaluated anyway.

Such an answer takes tens of microseconds, and most of these would be spent on setting up a search: sources, problems and
tallies, which there is nothing to do for. The answer, its certificate and its work are those of that search.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._elements import for_kernels
from sureshot._native import Team
from sureshot._validate.request import DISTANCES
from sureshot.prepare.block_size import LARGE_ARRAY, choose_blocks
from sureshot.prepare.top_k import REWARD_OF_METRIC
from sureshot.result import RoundInfo, TopK
from sureshot.search import certificate, exact, screen
from sureshot.search.condition import assumption
from sureshot.search.cosine import SMALLEST_NORM
from sureshot.search.race.choice import Sizes
from sureshot.search.run import Searched
from sureshot.sources.costs import in_memory
from sureshot.sources.norms import leeway_of, screened_leeway_of
from sureshot.sources.screening import rounded_float
from sureshot.sources.values import REWARDS

if TYPE_CHECKING:
    from sureshot._validate.request import TopKRequest


# No budget, no budget in seconds and no progress to report.
NO_LIMITS = (None, None, None)


def answer_at_once(request: TopKRequest, started: float) -> TopK | None:
    """Answer a request that was begun at `started`, by `time.perf_counter`; None if it takes a search.

    So it does, too, if anything is wrong with the numbers: the search says what.
    """
    data, bounds, query, arms = request.data, request.bounds, request.queries[0], request.arms
    if bounds is None or bounds.fingerprint is not None or not request.single:
        return None
    if not isinstance(data, np.ndarray) or not data.flags.c_contiguous or query.dtype != np.float32:
        return None
    if (request.budget, request.budget_seconds, request.progress) != NO_LIMITS:
        return None
    width, metric, k = data.shape[1], request.metric, request.k
    cosines, exact_norms = metric == "cosine", bounds.exact_norms
    if cosines and (exact_norms is None or data.dtype == np.float64):
        return None
    if width == 1 or len(arms) > exact.arms_at_once(width):
        return None
    blocks = choose_blocks(data, request.block, request.method, only_norms=False)
    costs = in_memory(blocks.size, data.itemsize, coordinate_major=False)
    choice = request.method.why_everything(Sizes(len(arms), width, blocks.count, k, costs))
    if choice is None:
        return None

    team = Team(request.threads)
    if data.nbytes >= LARGE_ARRAY:
        team.start()
    reward = REWARD_OF_METRIC[metric]
    screened = norms = None
    if data.itemsize < 8 and screen.pays_for(len(arms), width, k):
        rounded = rounded_float(reward, query)
        if rounded is None:
            return None
        share = screen.LARGEST_SHARE
        terms = screen.error_terms(reward, rounded, width)
        screened = (*terms, screen.first_arms(width, k, share), share)
    if cosines and exact_norms is not None:
        rounding = bounds.norm_rounding
        norms = (exact_norms, SMALLEST_NORM, screened_leeway_of(rounding), leeway_of(rounding))
    values, element = for_kernels(data)
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
