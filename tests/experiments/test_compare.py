"""The harness: what it measures, what it does not believe, and the library behind its contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sureshot
from sureshot import baselines
from sureshot.experiments import compare, grids, ours, sets
from sureshot.experiments.answers import InvalidAnswer
from sureshot.theory.schedule import bounded_me

CASE = compare.ComparisonCase("fig2", "gaussian", 40, 1_100, 5, "ExactMIPS", (), (), 3, 0)


def load(case: compare.ComparisonCase) -> sets.DataSet:
    return sets.MADE[case.data](case.n, case.N, case.queries, case.seed)


def cheat(monkeypatch: pytest.MonkeyPatch, answer: Any, score: float = 1e9) -> None:
    """Put a method in place of the exact one that always answers this."""

    class Cheat(baselines.ExactMIPS):
        def query(self, query: Any, k: int) -> baselines.Found:
            return baselines.Found(np.asarray(answer), np.full(k, score), 0, 0)

    monkeypatch.setattr(baselines, "ExactMIPS", Cheat)


def test_a_row_has_times_answers_and_how_to_repeat_it() -> None:
    (row,) = compare.measure([CASE], load)
    assert {"seed", "library", "numpy", "python", "cpu", "knobs", "build"} <= set(row)
    assert row["precision"] == [1.0] * 3
    assert row["suboptimality"] == [0.0] * 3
    assert row["numbers_read"] == [40 * 1_100] * 3
    assert (row["rows"], row["coordinates"]) == (40, 1_100)
    assert min(*row["seconds"], *row["exact_seconds"], row["preparation_seconds"]) > 0
    assert "precision 1.00" in compare.describe(row)


@pytest.mark.parametrize("answer", [[1, 1], [0, 40], [-1], [0, 1, 2, 3, 4, 5], [0.5], [[0, 1]]])
def test_a_method_that_cheats_with_its_answer_is_rejected(
    monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    cheat(monkeypatch, answer)
    with pytest.raises(InvalidAnswer, match=r"^ExactMIPS: expected"):
        list(compare.measure([CASE], load))


def test_a_method_that_cheats_with_its_scores_gains_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = load(CASE)
    worst = np.argsort(found.data.astype(float) @ found.queries[0].astype(float))[:5]
    cheat(monkeypatch, worst, score=1e9)
    (row,) = compare.measure([CASE], load)
    assert row["precision"][0] == 0.0
    assert row["suboptimality"][0] > 0


def test_too_few_answers_cost_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    cheat(monkeypatch, np.empty(0, dtype=np.int64))
    (row,) = compare.measure([CASE], load)
    assert row["precision"] == [0.0] * 3
    assert row["suboptimality"] == [None] * 3


def test_a_method_that_refuses_has_a_row_that_says_so() -> None:
    case = replace(CASE, method="SampleMIPS")
    (row,) = compare.measure([case], load)
    assert row["refused"].startswith("SampleMIPS needs data without negative values, got")
    assert f"refused, {row['refused']}" in compare.describe(row)
    case = replace(CASE, method="PCAMIPS", build=(("depth", 2),), knobs=(("depth", 3),))
    (row,) = compare.measure([case], load)
    assert "depth" in row["refused"]


def test_data_and_fits_are_shared_by_cases_that_follow_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []

    def counted(case: compare.ComparisonCase) -> sets.DataSet:
        made.append(case.data)
        return load(case)

    fitted: list[str] = []
    original = compare.make_method

    def spy(case: compare.ComparisonCase, known: sets.DataSet) -> baselines.Baseline:
        fitted.append(case.method)
        return original(case, known)

    monkeypatch.setattr(compare, "make_method", spy)
    grid = grids.Grid((0.4,), (0.3,), (0.0,), (0.2,), (1, 2), (1, 3), (0.5,), (0, 1))
    cases = [
        case
        for data in ("gaussian", "uniform")
        for case in grids.cases("fig2", data, (40, 1_100), (5, 10), grid, 1)
    ]
    assert len(list(compare.measure(cases, counted))) == len(cases) == 2 * 2 * (3 + 6 + 1 + 4 + 2)
    assert made == ["gaussian", "uniform"]
    assert len(fitted) == 2 * 8


@pytest.mark.parametrize("name", ours.OURS)
def test_our_methods_keep_the_contract(name: str) -> None:
    found = sets.uniform(60, 1_535, queries=2, seed=1)
    method = ours.OURS[name](found, seed=0)
    assert method.fit(found.data) is method
    for query in found.queries:
        answer = method.query(query, 3, epsilon=0.0, delta=0.1)
        expected = sureshot.top_k(found.data, query, 3, method="exact")
        assert answer.indices.tolist() == expected.indices.tolist()
        assert answer.epsilon == 0
        assert answer.numbers_read > 0


@pytest.mark.parametrize("zeros", [0, 2_000])
def test_unit_range_makes_the_pulls_of_the_paper_and_promises_no_more_than_is_true(
    zeros: int,
) -> None:
    n, N, k = 200, 3_000, 5
    found = sets.gaussian(n, N, queries=1, seed=2)
    query = found.queries[0]
    query[:zeros] = 0
    method = ours.BoundedMEUnitRange(found, seed=0).fit(found.data)
    answer = method.query(query, k, epsilon=0.5, delta=0.3)
    pulls, expected = 0, 0
    for this in bounded_me(n, N - zeros, k, 0.5, 0.3, width=1.0):
        expected += this.arms * (this.pulls - pulls)
        pulls = this.pulls
    # The true range is rounded, which may cost a pull in each round, and k rows are read at the end.
    assert abs(answer.numbers_read - k * N - expected) <= 2 * n
    true_range = method.true_range(query)
    assert answer.epsilon == pytest.approx(0.5 * true_range * (N - zeros) / N)
    assert true_range > 20
    true_range_used = ours.BoundedME(found, seed=0).fit(found.data)
    assert true_range_used.query(query, k, epsilon=0.5, delta=0.3).numbers_read > expected


@pytest.mark.parametrize("name", ours.OURS)
def test_an_answer_depends_on_seed_and_query_and_not_on_what_was_asked_before(name: str) -> None:
    found = sets.uniform(60, 1_535, queries=3, seed=1)
    knobs = {"epsilon": 0.05, "delta": 0.1}
    first = ours.OURS[name](found, seed=0).fit(found.data).query(found.queries[2], 3, **knobs)
    method = ours.OURS[name](found, seed=0).fit(found.data)
    for query in found.queries[:2]:
        method.query(query, 3, **knobs)
    again = method.query(found.queries[2], 3, **knobs)
    assert first.numbers_read == again.numbers_read
    assert first.indices.tolist() == again.indices.tolist()


def test_finding_the_limits_counts_for_those_who_need_them() -> None:
    cases = [
        replace(CASE, method=name, knobs=(("epsilon", 0.0), ("delta", 0.1)))
        for name in ("betting", "betting, scanned")
    ]
    limits, scanned = compare.measure(cases, lambda case: replace(load(case), limits_seconds=77.0))
    assert limits["preparation_seconds"] > 77
    assert scanned["preparation_seconds"] < 77


def test_limits_that_do_not_hold_are_no_refusal() -> None:
    case = replace(CASE, method="betting", knobs=(("epsilon", 0.0), ("delta", 0.1)))
    with pytest.raises(sureshot.BoundsError):
        list(compare.measure([case], lambda case: replace(load(case), low=0.0, high=1.0)))
