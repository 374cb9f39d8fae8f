"""Runs the queries of one call: several at a time, and what they read to the end in one pass.

Every query is searched as it would be alone, so its answer is the same; only the time differs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from sureshot._native import Team
from sureshot.search import betting
from sureshot.search.run import result_of, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot.result import TopK
    from sureshot.search.betting import Outcome
    from sureshot.search.problem import Problem, Tally

    # Puts the problem of one query together, to be searched by that team.
    Start = Callable[[int, Team], tuple[Problem, Tally]]

# Queries that are searched before any of them is finished: enough to share a pass over the data, few
# enough for their scores and problems to take little memory.
AT_ONCE = 16


def run_batch(
    start: Start, queries: int, method: str, seed: int, threads: int, team: Team
) -> list[TopK]:
    """Search with all queries and return their results in order."""

    def with_team(query: int) -> tuple[Problem, Tally]:
        return start(query, team)

    if method not in ("betting", "exact"):
        return [
            run(problem, method, seed, tally) for problem, tally in map(with_team, range(queries))
        ]

    def race(query: int, its_team: Team) -> Outcome:
        problem, tally = start(query, its_team)
        if method == "exact":
            return betting.Outcome(problem, tally)
        return betting.race(problem, np.random.default_rng(seed), tally)

    results: list[TopK] = []
    with ThreadPoolExecutor(threads) as pool:
        try:
            for first in range(0, queries, AT_ONCE):
                some = range(first, min(first + AT_ONCE, queries))
                # A thread for each query is never slower than all threads for one after the other, as
                # long as no thread is left without a query.
                alone = len(some) % threads if threads > 1 else len(some)
                outcomes = [race(query, team) for query in some[:alone]]
                outcomes += pool.map(lambda query: race(query, Team(1, team)), some[alone:])
                answers = betting.answers(outcomes, team)
                results += [
                    result_of(one.problem, answer, one.tally)
                    for one, answer in zip(outcomes, answers, strict=True)
                ]
        except BaseException:
            # The other threads would search on, and be waited for, though nobody wants their results.
            team.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results
