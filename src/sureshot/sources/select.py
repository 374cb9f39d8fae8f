"""Chooses the source for a checked request."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from sureshot.sources.calls import CallerThread
from sureshot.sources.dense import DenseSource
from sureshot.sources.function import FunctionSource
from sureshot.sources.norms import PromisedNorms
from sureshot.sources.rewards import Rewards

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sureshot._native import Team
    from sureshot._types import Floats
    from sureshot._validate import ArmsRequest, TopKRequest
    from sureshot.sources.calls import Caller
    from sureshot.sources.journal import Journal

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
    bounds, promised = request.bounds, None
    if request.metric == "cosine" and bounds.exact_norms is not None:
        promised = PromisedNorms(request.arms, bounds.exact_norms, bounds.norm_rounding)
    return DenseSource(request.data, query, reward, request.blocks, team, promised)


def function_source(request: ArmsRequest, rewards: Rewards) -> FunctionSource:
    """Return the source of `best_arms`."""
    return FunctionSource(rewards, request.n_arms, request.n_rewards)


@contextmanager
def opened(request: ArmsRequest) -> Iterator[Rewards]:
    """Give what calls the function of `best_arms`; its journal and its event loop end with it."""
    how, abort = request.pulling, None
    caller: Caller = how.executor or CallerThread()
    with ExitStack() as stack:
        journal = None
        if how.journal is not None:
            journal = stack.enter_context(_journal(request, how.journal))
            stack.enter_context(journal.noting_errors())
        if how.is_coroutine:
            from sureshot.sources.loop import Loop  # noqa: PLC0415 - asyncio takes long to import

            caller = loop = stack.enter_context(Loop())
            abort = loop.cancel
        yield Rewards(
            pull=how.pull,
            low=request.low,
            high=request.high,
            caller=caller,
            per_call=how.per_call,
            concurrency=how.concurrency,
            retries=how.retries,
            journal=journal,
            abort=abort,
        )


def _journal(request: ArmsRequest, path: Path) -> Journal:
    from sureshot.sources.journal import Journal  # noqa: PLC0415 - so does sqlite3

    problem = {
        "n_arms": request.n_arms,
        "n_rewards": request.n_rewards,
        "bounds": [request.low, request.high],
    }
    search: dict[str, Any] = {
        name: getattr(request, name)
        for name in ("k", "epsilon", "delta", "method", "replacement", "budget", "budget_seconds")
    }
    search["where"] = hashlib.sha256(request.arms.tobytes()).hexdigest()
    return Journal(path, problem, search, request.seed, seed_given=request.seed_given)
