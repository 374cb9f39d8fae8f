"""Chooses the source for a checked request, and the scale that turns its sums into scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot._validate import refuse_zero_rows
from sureshot.sources.dense import DenseSource, row_norms
from sureshot.sources.function import FunctionSource

if TYPE_CHECKING:
    from sureshot._types import Floats
    from sureshot._validate import ArmsRequest, TopKRequest


def dense_source(request: TopKRequest, query: Floats) -> DenseSource:
    """Return the source of one query of `top_k`."""
    reward = "ip" if request.metric == "cosine" else request.metric
    return DenseSource(request.data, query, reward, 1, request.threads)


def inverse_norms(request: TopKRequest) -> Floats:
    """Return 1 / norm of each searched row for cosines (one pass over the data), else ones."""
    if request.metric != "cosine":
        return np.ones(len(request.arms))
    norms = row_norms(request.data, request.arms, request.threads)
    refuse_zero_rows(norms, request.arms)
    return 1 / norms


def function_source(request: ArmsRequest) -> FunctionSource:
    """Return the source of `best_arms`."""
    return FunctionSource(
        request.pull, request.n_arms, request.n_rewards, request.low, request.high
    )
