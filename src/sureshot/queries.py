"""Runs the queries of one call: several at a time, and what they read to the end in one pass.

Every query is searched as it would be alone, so its answer is the same; only the time differs. But
where a cosine needs norms of the rows that are not known, the first query finds them and is answered
on the way, as each would be alone, and the others are searched with these norms.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from sureshot._native import Team
from sureshot.result import share_time
from sureshot.search import exact
from sureshot.search.product import Products, queries_at_once
from sureshot.search.race import finishing
from sureshot.search.run import result_of, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sureshot._types import Floats
    from sureshot.prepare.top_k import PreparedQueries
    from sureshot.result import TopK
    from sureshot.search.problem import Tally
    from sureshot.search.race.finishing import Outcome

# Queries that are searched before it is first predicted whether the others are: a race that gains nothing
# gives up early.
TRIED = 2


def run_queries(queries: PreparedQueries, started: float) -> list[TopK]:
    """Search with all queries and return their results in order.

    They share the time since `started`, when the call began by `time.perf_counter`.
    """
    if queries.request.single and not queries.need_norms:
        problem, tally = queries.problem(0, queries.team, None)
        return [run(problem, queries.request.method, queries.request.seed, tally, started)]
    results: list[TopK] = []
    norms: Floats | None = None
    if queries.need_norms:
        results, norms = _run_with_norms(queries)
    if len(results) < len(queries.request.queries):
        results += _run_batch(queries, range(len(results), len(queries.request.queries)), norms)
    return share_time(results, time.perf_counter() - started)


def _run_with_norms(queries: PreparedQueries) -> tuple[list[TopK], Floats]:
    """Answer the first query by cosine, and find the norms of the rows in the same pass over them.

    The pass reads everything, so the answer is exact. Where all the others are to be exact, too, as
    many of them are answered as share a pass.
    """
    team = queries.team
    together = (
        1 if queries.request.method.samples else min(exact.AT_ONCE, len(queries.request.queries))
    )
    started = [queries.problem(query, team, None) for query in range(together)]
    problems, tallies = [problem for problem, _ in started], [tally for _, tally in started]
    norms = np.empty(len(problems[0].arms))
    answers = exact.search_together(problems, tallies, team, norms)
    return list(map(result_of, problems, answers, tallies)), norms


def _run_batch(queries: PreparedQueries, which: Sequence[int], norms: Floats | None) -> list[TopK]:
    """Search with some of the queries, in passes that they share if the method allows that."""
    seed, team, threads = queries.request.seed, queries.team, queries.threads

    def search(query: int) -> TopK:
        began = time.perf_counter()
        problem, tally = queries.problem(query, team, norms)
        return run(problem, queries.request.method, seed, tally, began)

    method = queries.request.method
    one, _ = queries.problem(which[0], team, norms)
    if method.reads_everything(one):
        return _run_exactly(queries, which, norms)
    begin = method.batch
    if begin is None:
        return [search(query) for query in which]

    def race(query: int, its_team: Team) -> Outcome:
        began = time.perf_counter()
        problem, tally = queries.problem(query, its_team, norms)
        outcome = begin(problem, seed, tally)
        tally.seconds = time.perf_counter() - began
        return outcome

    results: list[TopK] = []
    raced: list[Outcome] = []
    with ThreadPoolExecutor(threads) as pool:
        try:
            while len(results) < len(which):
                size = exact.AT_ONCE if raced else TRIED
                some = which[len(results) : len(results) + size]
                # A thread for each query is never slower than all threads for one after the other, as
                # long as no thread is left without a query.
                alone = len(some) % threads if threads > 1 else len(some)
                outcomes = [race(query, team) for query in some[:alone]]
                began = time.perf_counter()
                side_by_side = list(
                    pool.map(lambda query: race(query, Team(1, team)), some[alone:])
                )
                _divide(time.perf_counter() - began, [one.tally for one in side_by_side])
                outcomes += side_by_side
                rest = which[len(results) + len(some) :]
                if rest and finishing.products_cost_less(outcomes, len(rest)):
                    return results + _multiply_the_rest(queries, outcomes, rest, norms)
                raced = outcomes
                answers = finishing.answers(outcomes, team)
                results += [
                    result_of(one.problem, answer, one.tally)
                    for one, answer in zip(outcomes, answers, strict=True)
                ]
        except BaseException:
            # The other threads would search on, and be waited for, although their results are not wanted.
            team.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results


def _multiply_the_rest(
    queries: PreparedQueries,
    outcomes: Sequence[Outcome],
    rest: Sequence[int],
    norms: Floats | None,
) -> list[TopK]:
    """Answer what some races have left, and the queries that follow them, by a matrix product."""
    over = [one for one in outcomes if one.over]
    answers = finishing.answers(over, queries.team)
    done = {
        one.tally.query: result_of(one.problem, answer, one.tally)
        for one, answer in zip(over, answers, strict=True)
    }
    begun = {one.tally.query: one.tally for one in outcomes if not one.over}
    exactly = iter(_run_exactly(queries, [*begun, *rest], norms, begun))
    raced = [one.tally.query for one in outcomes]
    return [done[query] if query in done else next(exactly) for query in (*raced, *rest)]


def _run_exactly(
    queries: PreparedQueries,
    which: Sequence[int],
    norms: Floats | None,
    begun: Mapping[int, Tally] | None = None,
) -> list[TopK]:
    """Search with some of the queries by reading everything, as many at once as have room.

    Those that have been searched in vain before have a tally in `begun`.
    """
    team, begun = queries.team, begun or {}
    one, _ = queries.problem(which[0], team, norms)
    products, at_once = Products(one, team), queries_at_once(one)
    results: list[TopK] = []
    for first in range(0, len(which), at_once):
        some = which[first : first + at_once]
        started = [queries.problem(query, team, norms) for query in some]
        problems = [problem for problem, _ in started]
        tallies = [begun.get(query, its) for query, (_, its) in zip(some, started, strict=True)]
        answers = products.answers(problems, tallies)
        results += map(result_of, problems, answers, tallies)
    return results


def _divide(seconds: float, tallies: Sequence[Tally]) -> None:
    """Divide the time that passed in proportion to what the searches took, each on its own clock."""
    taken = sum(tally.seconds for tally in tallies)
    for tally in tallies:
        tally.seconds *= seconds / taken
