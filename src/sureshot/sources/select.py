"""Chooses the source for a checked request, and reads what must be known before a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sureshot.sources.dense import DenseSource, row_norms
from sureshot.sources.function import FunctionSource

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Floats
    from sureshot._validate import ArmsRequest, TopKRequest

REWARD_OF_METRIC = {
    "ip": "ip",
    "abs-ip": "ip",
    "cosine": "ip",
    "sqeuclidean": "sqeuclidean",
    "l1": "l1",
}


def dense_source(request: TopKRequest, query: Floats, team: Team) -> DenseSource:
    """Return the source of one query of `top_k`."""
    reward = REWARD_OF_METRIC[request.metric]
    return DenseSource(request.data, query, reward, request.blocks, team)


def norms(request: TopKRequest) -> Floats | None:
    """Return the norms of the searched rows if the metric needs them: one pass over the data."""
    if request.metric != "cosine":
        return None
    return row_norms(request.data, request.arms, request.team)


def numbers_read_before(request: TopKRequest) -> int:
    """Return what was read of the data before the first query."""
    for_norms = len(request.arms) * request.data.shape[1] if request.metric == "cosine" else 0
    return for_norms + request.bounds.numbers_read


def function_source(request: ArmsRequest) -> FunctionSource:
    """Return the source of `best_arms`."""
    return FunctionSource(
        request.pull, request.n_arms, request.n_rewards, request.low, request.high
    )
