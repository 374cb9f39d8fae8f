"""Makes a request of `best_arms` ready: the journal and the event loop are open, the problem is there."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.search.budget import deadline_in, numbers_of
from sureshot.search.condition import assumption
from sureshot.search.problem import Problem
from sureshot.sources.calls import CallerThread
from sureshot.sources.function import FunctionSource
from sureshot.sources.rewards import Rewards
from sureshot.theory import intervals
from sureshot.theory.intervals import Intervals

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sureshot._validate.request import ArmsRequest
    from sureshot.search.condition import Condition
    from sureshot.sources.calls import Caller
    from sureshot.sources.journal import Journal


@dataclass(frozen=True, slots=True)
class PreparedArms:
    """A problem of `best_arms`, the seed to search it with, and what calls its function."""

    problem: Problem
    seed: int  # of the journal, if there is one: an interrupted search goes on in its order
    rewards: Rewards


@contextmanager
def prepare_best_arms(request: ArmsRequest) -> Iterator[PreparedArms]:
    """Open the journal and the event loop, which end with the search, and give the problem."""
    how, abort = request.calling, None
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
        rewards = Rewards(
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
        seed = request.seed if journal is None else journal.seed
        yield PreparedArms(_problem(request, rewards), seed, rewards)


def _problem(request: ArmsRequest, rewards: Rewards) -> Problem:
    n_arms, n_rewards = len(request.arms), request.n_rewards
    condition = _condition(rewards.journal)
    return Problem(
        source=FunctionSource(rewards, request.n_arms, request.n_rewards),
        arms=request.arms,
        factors=np.full(n_arms, 1 / n_rewards),
        k=request.k,
        epsilon=request.epsilon,
        delta=request.delta,
        known=lambda: (_intervals(request), condition),
        replacement=request.replacement,
        budget=numbers_of(request.budget, n_arms * n_rewards),
        deadline=deadline_in(request.budget_seconds),
    )


def _intervals(request: ArmsRequest) -> Intervals:
    """Return the intervals of rewards with the same limits for all."""
    n_arms, n_rewards = len(request.arms), request.n_rewards
    half_width = (request.high - request.low) / 2
    magnitude = max(abs(request.low), abs(request.high))
    return Intervals(
        centre=np.full(n_rewards, request.low + half_width),
        weight=np.full(n_rewards, half_width + intervals.ROUNDING * magnitude),
        limit=np.ones(n_arms),
        magnitude=n_rewards * abs(request.low + half_width),
    )


def _condition(journal: Journal | None) -> Condition:
    """Return what the limits of the rewards rest on."""
    words = "every reward lies within the given bounds"
    if journal is None or not journal.changed:
        return assumption(words)
    # Its rewards came in the order of the same seed: what they suggest is no longer random.
    words += (
        ", and nothing in the journal, which was begun with another "
        f"{' and '.join(journal.changed)}, suggested this search"
    )
    return assumption(words, checkable=False)


def _journal(request: ArmsRequest, path: Path) -> Journal:
    from sureshot.sources.journal import Journal  # noqa: PLC0415 - so does sqlite3

    problem = {
        "n_arms": request.n_arms,
        "n_rewards": request.n_rewards,
        "bounds": [request.low, request.high],
    }
    search: dict[str, Any] = {
        "k": request.k,
        "epsilon": request.epsilon,
        "delta": request.delta,
        "method": request.method.name,
        "replacement": request.replacement,
        "budget": request.budget,
        "budget_seconds": request.budget_seconds,
        "where": hashlib.sha256(request.arms.tobytes()).hexdigest(),
    }
    return Journal(path, problem, search, request.seed, seed_given=request.seed_given)
