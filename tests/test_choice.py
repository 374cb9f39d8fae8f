"""Whether to race: from costs alone, or from a sample where costs leave it open."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import sureshot
from sureshot._native import Team
from sureshot.blocks import Blocks
from sureshot.search.problem import Problem, Tally
from sureshot.search.race import betting, policy
from sureshot.search.race.choice import choose, sampled_cost
from sureshot.search.race.race import Race
from sureshot.sources.dense import DenseSource
from sureshot.theory import intervals
from tests.racing import given

pytestmark = pytest.mark.usefixtures("costs_decide")

# The costs leave everything open, and a sample decides.
SAMPLE = dataclasses.replace(policy.DEFAULT, least_gain=0.0, sure_gain=1e9, worth_a_sample=0.0)


def problem_of(kind: str, n_arms: int = 1000, width: int = 24_000, order: str = "C") -> Problem:
    rng = np.random.default_rng(1)
    data = rng.standard_normal((n_arms, width), dtype=np.float32)
    query = rng.standard_normal(width)
    if kind == "low rank":
        patterns = rng.standard_normal((5, width))
        data += 2 * (rng.standard_normal((n_arms, 5)) @ patterns).astype(np.float32)
        query += rng.standard_normal(5) @ patterns
    elif kind == "one stands out":
        query += data[7]
    blocks = Blocks(width, 16 if order == "C" else 1)
    source = DenseSource(np.asarray(data, order=order), query, "ip", blocks, Team(2))  # type: ignore[call-overload]
    limit = float(np.abs(data).max())
    known = intervals.from_values("ip", query, np.array(-limit), np.array(limit), blocks, n_arms)
    return Problem(source, np.arange(n_arms), None, 5, 0.0, 0.1, given(known))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(100, 200), (1000, 768), (1000, 4000), (5000, 1200)], ids=str)
def test_small_data_is_evaluated(shape: tuple[int, int], order: str) -> None:
    data = np.asarray(np.random.default_rng(0).random(shape, np.float32), order=order)  # type: ignore[call-overload]
    found = sureshot.top_k(data, data[3] - 0.5, 5, bounds=(0, 1))
    assert found.algorithm == "exact"
    assert found.certificate.exact


def test_a_budget_is_spent_on_data_of_any_size() -> None:
    data = np.random.default_rng(0).random((300, 2000), np.float32)
    found = sureshot.top_k(data, data[3] - 0.5, 5, bounds=(0, 1), budget=0.1, rng=0)
    assert found.algorithm == "race"


def test_long_rows_are_raced_without_a_sample() -> None:
    problem = problem_of("no gap", 300, 160_000)
    tally = Tally()
    choice = choose(problem, np.random.default_rng(0), tally, policy.DEFAULT)
    assert choice.race
    assert tally.numbers_read == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["low rank", "no gap"])
def test_a_sample_tells_a_gap_from_none(kind: str, order: str) -> None:
    problem = problem_of(kind, order=order)
    tally = Tally()
    choice = choose(problem, np.random.default_rng(0), tally, SAMPLE)
    assert choice.race == (kind == "low rank")
    everything = len(problem.arms) * problem.source.n_coordinates
    assert 0 < tally.numbers_read < 0.01 * everything
    assert not tally.rounds


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_expected_score_shows_what_a_sample_does_not(order: str) -> None:
    """One arm that stands out among many is hardly ever in a sample of them."""
    problem = problem_of("one stands out", order=order)
    assert isinstance(problem.source, DenseSource)
    scores = problem.source.data.astype(np.float64) @ problem.source.query
    chosen = [
        choose(
            dataclasses.replace(problem, k=1, expected_score=expected),
            np.random.default_rng(0),
            Tally(),
            SAMPLE,
        ).race
        for expected in (-np.inf, float(np.median(scores)), float(scores.max()))
    ]
    assert chosen == [False, False, True]


@pytest.mark.parametrize("metric", ["abs-ip", "sqeuclidean"])
def test_no_answer_depends_on_the_expected_score(metric: str) -> None:
    data = np.random.default_rng(0).standard_normal((1_500, 30_000), dtype=np.float32)
    query = data[7] + 0.5 * data[8]
    bounds = sureshot.scan(data)
    usual = sureshot.top_k(data, query, 1, metric=metric, bounds=bounds, rng=0)
    for expected in (-1e30, 0.0, float(usual.scores[0]), 1e30):
        found = sureshot.top_k(
            data, query, 1, metric=metric, bounds=bounds, rng=0, expected_score=expected
        )
        assert found.indices.tolist() == usual.indices.tolist() == [7]
        assert found.scores.tobytes() == usual.scores.tobytes()


def test_a_sample_changes_nothing_of_the_race_but_what_is_read() -> None:
    problem = problem_of("low rank")
    found = []
    for rules in (SAMPLE, dataclasses.replace(SAMPLE, sure_gain=0.0)):
        tally = Tally()
        answer = betting.search(problem, np.random.default_rng(3), tally, rules)
        found.append((answer.positions.tolist(), answer.scores.tolist(), tally))
    assert found[0][:2] == found[1][:2]
    sampled, plain = found[0][2], found[1][2]
    extra = sampled.numbers_read - plain.numbers_read
    assert extra > 0
    assert [one.numbers_read - extra for one in sampled.rounds] == [
        one.numbers_read for one in plain.rounds
    ]


def test_a_doubtful_prediction_is_made_again_from_more() -> None:
    problem = problem_of("no gap", order="F")

    def sampled(wanted: float, **changes: float) -> tuple[float, int]:
        tally = Tally()
        rules = dataclasses.replace(SAMPLE, **{"sampled_share": 1.0, **changes})  # type: ignore[arg-type]
        cost = sampled_cost(problem, np.random.default_rng(0), tally, rules, wanted)
        return cost, tally.numbers_read

    first, few = sampled(np.inf)
    assert few == SAMPLE.sampled_arms * SAMPLE.fewest_steps
    assert sampled(1.01 * first / SAMPLE.sampled_trust) == (first, few)  # far below what is wanted
    # Where no arm stands out, a first prediction is too small: just below what is wanted it is not believed.
    later, read = sampled(1.01 * first)
    assert later > 1.01 * first
    assert read >= 2 * few
    assert sampled(0.99 * first / SAMPLE.sampled_doubt) == (first, few)  # far above it
    assert sampled(0.99 * first, sampled_share=0.0) == (first, few)  # to read on costs too much
    again, more = sampled(0.99 * first)
    assert again != first
    assert 2 * few <= more <= SAMPLE.sampled_arms * SAMPLE.sampled_steps


def test_what_is_sampled_does_not_depend_on_threads() -> None:
    problem = problem_of("low rank")
    counts = set()
    for threads in (1, 3):
        source = problem.source
        assert isinstance(source, DenseSource)
        team = Team(threads)
        again = DenseSource(source.data, source.query, "ip", source.blocks, team)
        tally = Tally()
        one = dataclasses.replace(problem, source=again, team=team)
        choice = choose(one, np.random.default_rng(0), tally, SAMPLE)
        counts.add((tally.numbers_read, choice))
    assert len(counts) == 1


def test_by_column_only_arms_that_are_read_on_are_visited() -> None:
    race = Race(
        problem_of("low rank", order="F"), np.random.default_rng(0), Tally(), policy.DEFAULT
    )
    visits = 0
    while race.front < policy.DEFAULT.rough_steps:
        visits += race.ledger.n_active
        race.read_on()
        race.suspend_and_drop()
    assert visits < 0.9 * len(race.problem.arms) * (len(race.fronts) - 1)
    assert race.cost_of_visits() == visits * race.costs.visit


def test_the_work_says_what_was_chosen_and_why() -> None:
    small = np.random.default_rng(0).random((100, 200), np.float32)
    alone = sureshot.top_k(small, small[3] - 0.5, 5, bounds=(0, 1))
    assert alone.work.choice == (
        "every arm evaluated: to evaluate every arm costs less than the rounds of a race"
    )
    assert sureshot.top_k(small, small[3], 5, method="exact").work.choice == ""
    budget = sureshot.top_k(small, small[3] - 0.5, 5, bounds=(0, 1), budget=0.3, rng=0)
    assert "there is a budget" in budget.work.choice
    several = sureshot.top_k(small, small[:3] - 0.5, 5, bounds=(0, 1))
    assert several.work.choice == several.queries[0].work.choice


def test_a_schedule_that_reads_nearly_everything_is_not_run() -> None:
    data = np.random.default_rng(0).random((50, 300), np.float32)
    found = sureshot.top_k(
        data, data[3] - 0.5, 2, bounds=(0, 1), method="bounded-me", epsilon=0.1, rng=0
    )
    assert found.certificate.exact
    assert found.work.choice.startswith("every arm evaluated: the schedule would read nearly")
    assert found.work.numbers_read == data.size
