"""Runs the queries of one call: several at a time, and what they read to the end in one pass.

Every query is searched as it would be alone, so its answer is the same; only the time differs. But
where a cosine needs norms of the rows that are not known, the first query finds them and is answered
on the way, as each would be alone, and the others are searched with these norms.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sureshot._native import Team, Turns
from sureshot.result import share_time, stack
from sureshot.search import exact
from sureshot.search.batch_results import BatchResults
from sureshot.search.exact_batch import ExactBatch
from sureshot.search.race import finishing
from sureshot.search.run import Searched, result_of, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sureshot._types import Floats, Ints
    from sureshot.prepare.top_k import PreparedQueries
    from sureshot.result import TopK
    from sureshot.search.batch import BatchAnswer
    from sureshot.search.problem import Problem, Tally
    from sureshot.search.race.finishing import Outcome

# Queries that are searched before it is first predicted whether the others are: a race that gains nothing
# gives up early.
TRIED = 2


def run_queries(queries: PreparedQueries, started: float) -> TopK:
    """Search with all queries of a call, which began at `started` by `time.perf_counter`."""
    found = _run(queries, started)
    queries.check_unchanged()
    return found


def _run(queries: PreparedQueries, started: float) -> TopK:
    request, norms = queries.request, None
    if request.single and not queries.need_norms:
        problem, tally = queries.problem(0, queries.team, None)
        return run(problem, request.method, request.seed, tally, started)
    results: list[TopK] = []
    if queries.need_norms:
        results, norms = _run_with_norms(queries)
    rest = range(len(results), len(request.queries))
    if rest:
        one, _ = queries.problem(rest[0], queries.team, norms)
        if not request.method.reads_everything(one):
            results += _run_batch(queries, rest, norms)
        elif results:
            results += _run_exactly(queries, rest, norms, {})
        else:
            return _run_all_exactly(queries, one, norms, started)
    return _stacked(queries, results, started)


def _stacked(queries: PreparedQueries, results: list[TopK], started: float) -> TopK:
    """Return the results of a call as one; what no query has counted of its time all have spent."""
    results = share_time(results, time.perf_counter() - started)
    return results[0] if queries.request.single else stack(results)


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
    begin = method.batch
    if begin is None:
        return [search(query) for query in which]

    problem, sampled = queries.problem(which[0], team, norms)
    if finishing.one_pass_seems_to_cost_less(problem, seed, sampled, len(which)):
        return _run_exactly(queries, which, norms, {which[0]: sampled})

    def race(query: int, its_team: Team) -> Outcome:
        began = time.perf_counter()
        problem, tally = queries.problem(query, its_team, norms)
        if query == which[0]:
            tally = sampled
        outcome = begin(problem, seed, tally)
        tally.seconds = time.perf_counter() - began
        return outcome

    turns = Turns()

    def race_beside_others(query: int) -> Outcome:
        with turns:
            return race(query, Team(1, team))

    results: list[TopK] = []
    with ThreadPoolExecutor(threads) as pool:
        try:
            while len(results) < len(which):
                size = exact.AT_ONCE if results else TRIED
                some = which[len(results) : len(results) + size]
                # A thread for each query is never slower than all threads for one after the other, as
                # long as no thread is left without a query.
                alone = len(some) % threads if threads > 1 else len(some)
                outcomes = [race(query, team) for query in some[:alone]]
                began = time.perf_counter()
                side_by_side = list(pool.map(race_beside_others, some[alone:]))
                _divide(time.perf_counter() - began, [one.tally for one in side_by_side])
                outcomes += side_by_side
                rest = which[len(results) + len(some) :]
                if rest and finishing.one_pass_costs_less(outcomes, len(rest)):
                    return results + _read_the_rest_together(queries, outcomes, rest, norms)
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


def _read_the_rest_together(
    queries: PreparedQueries,
    outcomes: Sequence[Outcome],
    rest: Sequence[int],
    norms: Floats | None,
) -> list[TopK]:
    """Answer what some races have left, and the queries that follow them, in one pass that they share."""
    done = {
        one.tally.query: result_of(one.problem, one.answer, one.tally)
        for one in outcomes
        if one.answer is not None
    }
    begun = {one.tally.query: one.tally for one in outcomes if one.answer is None}
    exactly = iter(_run_exactly(queries, [*begun, *rest], norms, begun))
    raced = [one.tally.query for one in outcomes]
    return [done[query] if query in done else next(exactly) for query in (*raced, *rest)]


def _run_all_exactly(
    queries: PreparedQueries, first: Problem, norms: Floats | None, started: float
) -> TopK:
    """Search with all queries, the first of which has this problem, by reading everything."""
    which = range(len(queries.request.queries))
    found, left = _answered_together(queries, which, norms, {}, first)
    if found is None or len(left):
        results = _written_down(queries, which, norms, {}, found, left)
        return _stacked(queries, results, started)
    seconds = time.perf_counter() - started
    return found.table(queries.sign, queries.numbers_scanned, seconds)


def _run_exactly(
    queries: PreparedQueries,
    which: Sequence[int],
    norms: Floats | None,
    begun: Mapping[int, Tally],
) -> list[TopK]:
    """Search with some of the queries by reading everything.

    Those that have been searched in vain before have a tally in `begun`.
    """
    found, left = _answered_together(queries, which, norms, begun)
    return _written_down(queries, which, norms, begun, found, left)


def _answered_together(
    queries: PreparedQueries,
    which: Sequence[int],
    norms: Floats | None,
    begun: Mapping[int, Tally],
    like: Problem | None = None,
) -> tuple[BatchResults | None, Ints]:
    """Answer some of the queries in one table; return that, and the places of those it lacks."""
    began = time.perf_counter()
    if like is None:
        like, _ = queries.problem(which[0], queries.team, norms)
    exactly = ExactBatch(like, len(which), queries.team)
    if not exactly.possible:
        return None, np.arange(len(which))

    searched = Searched.by(like)

    def results(answer: BatchAnswer) -> BatchResults:
        return BatchResults(
            searched=searched,
            answer=answer,
            certificate=exactly.certificate,
            choice=exactly.choice,
            numbers_screened=exactly.numbers_screened,
            seconds=time.perf_counter() - began,
        )

    def report(answer: BatchAnswer, some: range) -> None:
        so_far = results(answer)
        for at in some:
            if answer.evaluated[at]:
                tally = begun.get(which[at]) or queries.tally(which[at])
                so_far.of_query(at, replace(tally, rounds=list(tally.rounds)))

    answer, left = exactly.answer(
        lambda some: queries.batch(which[some.start : some.stop], norms, like),
        report if queries.request.progress is not None else None,
    )
    return results(answer), left


def _written_down(
    queries: PreparedQueries,
    which: Sequence[int],
    norms: Floats | None,
    begun: Mapping[int, Tally],
    found: BatchResults | None,
    left: Ints,
) -> list[TopK]:
    """Return the result of each query: what was found, and of those that are left what a pass finds."""
    team = queries.team
    results: dict[int, TopK] = {}
    for start in range(0, len(left), exact.AT_ONCE):
        some = [which[at] for at in left[start : start + exact.AT_ONCE].tolist()]
        started = [queries.problem(query, team, norms) for query in some]
        problems = [problem for problem, _ in started]
        tallies = [begun.get(query, its) for query, (_, its) in zip(some, started, strict=True)]
        answers = exact.search_together(problems, tallies, team)
        results |= zip(some, map(result_of, problems, answers, tallies), strict=True)
    for at, query in enumerate(which):
        if query not in results:
            assert found is not None, "a query that is not left was found"
            # These rounds were reported when the answer was found.
            tally = replace(begun.get(query) or queries.tally(query), progress=None)
            results[query] = found.of_query(at, tally)
    return [results[query] for query in which]


def _divide(seconds: float, tallies: Sequence[Tally]) -> None:
    """Divide the time that passed in proportion to what the searches took, each on its own clock."""
    taken = sum(tally.seconds for tally in tallies)
    for tally in tallies:
        tally.seconds *= seconds / taken
