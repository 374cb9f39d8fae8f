"""The metrics against their definitions, and the check of answers against cheats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureshot.experiments import metrics
from sureshot.experiments.answers import InvalidAnswer, checked, true_scores

SCORES = np.array([0.5, 2.0, -1.0, 2.0, 1.5])


@pytest.mark.parametrize(
    ("answer", "k", "right", "loss"),
    [
        ([1, 3], 2, 1.0, 0.0),
        ([3, 1], 2, 1.0, 0.0),
        ([1, 4], 2, 0.5, 0.5),
        ([0, 2], 2, 0.0, 3.0),
        ([1], 2, 0.5, math.inf),
        ([], 2, 0.0, math.inf),
        ([1], 1, 1.0, 0.0),
        ([3], 1, 1.0, 0.0),  # ties with the best
        ([0, 1, 2, 3, 4], 5, 1.0, 0.0),
    ],
)
def test_precision_and_suboptimality(answer: list[int], k: int, right: float, loss: float) -> None:
    found = np.array(answer, dtype=np.int64)
    assert metrics.precision(found, SCORES, k) == right
    assert metrics.suboptimality(found, SCORES, k) == loss


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=30),
    st.integers(1, 30),
    st.randoms(use_true_random=False),
)
def test_metrics_are_what_sorting_says(values: list[int], k: int, random: Any) -> None:
    k = min(k, len(values))
    answer = random.sample(range(len(values)), k)
    best = sorted(values, reverse=True)[:k]
    mine = sorted((values[arm] for arm in answer), reverse=True)
    scores, found = np.array(values, dtype=float), np.array(answer)
    assert metrics.suboptimality(found, scores, k) == best[-1] - mine[-1] >= 0
    assert metrics.precision(found, scores, k) == sum(value >= best[-1] for value in mine) / k
    # Nothing is lost exactly where everything is right.
    assert (metrics.precision(found, scores, k) == 1) == (best[-1] == mine[-1])


def test_speed_ups_and_shares() -> None:
    assert metrics.online_speed_up([3.0, 1.0, 2.0], [0.5, 4.0, 0.25]) == 4.0
    assert metrics.share(4, 25, [10, 30]) == 0.2
    assert metrics.speed_up_in_numbers(4, 25, [10, 30]) == 5.0


@pytest.mark.parametrize(("delta", "rank"), [(0.01, 20), (0.05, 20), (0.1, 19), (0.3, 15)])
def test_percentiles_are_losses_and_at_most_delta_of_them_are_larger(
    delta: float, rank: int
) -> None:
    losses = np.random.default_rng(0).permutation(20) / 20
    found = metrics.upper_percentile(losses, delta)
    assert found == np.sort(losses)[rank - 1]
    assert np.mean(losses > found) <= delta


def test_the_frontier_has_what_nothing_beats() -> None:
    rng = np.random.default_rng(1)
    cloud = [(float(speed), float(right)) for speed, right in rng.integers(0, 8, (40, 2))]
    kept = metrics.frontier(cloud)
    assert kept == sorted(kept)
    for speed, right in set(cloud):
        beaten = any(s >= speed and r >= right and (s, r) != (speed, right) for s, r in cloud)
        assert beaten == ((speed, right) not in kept)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1, 1], "expected different arms, got [1, 1]"),
        ([0, 5], "expected arms from 0 to 4, got 5"),
        ([-1, 0], "expected arms from 0 to 4, got -1"),
        ([0, 1, 2], "expected at most 2 arms, got 3"),
        ([0.0, 1.0], "expected a flat array of integers, got float64"),
        ([[0, 1]], "expected a flat array of integers, got int64 of shape (1, 2)"),
        ([True, False], "got bool"),
    ],
)
def test_what_is_no_answer_is_rejected(answer: list[Any], message: str) -> None:
    with pytest.raises(InvalidAnswer) as raised:
        checked(answer, n_arms=5, k=2, method="cheat")
    assert message in str(raised.value)
    assert str(raised.value).startswith("cheat: ")


def test_few_answers_are_allowed() -> None:
    assert checked([], 5, 2, "few").tolist() == []
    assert checked(np.array([4], np.uint8), 5, 2, "few").tolist() == [4]


def test_scores_that_differ_by_rounding_tie() -> None:
    scores = np.array([3.0, 2.0, 2.0 - 1e-15, 1.0])
    assert metrics.precision(np.array([0, 2]), scores, 2) == 1.0
    assert metrics.precision(np.array([0, 3]), scores, 2) == 0.5


@pytest.mark.parametrize("order", ["C", "F"])
def test_true_scores_are_exact_sums(monkeypatch: pytest.MonkeyPatch, order: Any) -> None:
    monkeypatch.setattr("sureshot.experiments.answers.NUMBERS_PER_CHUNK", 1535 * 4)
    rng = np.random.default_rng(2)
    data = rng.standard_normal((13, 1535), dtype=np.float32).copy(order)
    queries = rng.standard_normal((3, 1535), dtype=np.float32)
    expected = [
        [math.fsum(map(float, row.astype(float) * query.astype(float))) for row in data]
        for query in queries
    ]
    np.testing.assert_allclose(true_scores(data, queries), expected, rtol=1e-12, atol=1e-12)
