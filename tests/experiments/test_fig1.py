"""Figure 1: the lists are what the paper says, and counted pulls are those that a search makes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sureshot
from sureshot.experiments import fig1, fig1_figure
from sureshot.theory.schedule import bounded_me


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.3, 0.6])
@pytest.mark.parametrize(("n_arms", "n_rewards"), [(1, 97), (7, 97), (60, 1535)])
def test_ones_first_is_what_a_search_with_such_pulls_finds(
    n_arms: int, n_rewards: int, epsilon: float
) -> None:
    ones = fig1.count_ones(fig1.make_lists(3, n_arms, n_rewards))
    pulled = np.zeros(n_arms, dtype=np.int64)

    def pull(arms: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """Return what is left of each arm's ones, then zeros, whatever the coordinates are."""
        start = pulled[arms, None]
        pulled[arms] += len(coordinates)
        return start + np.arange(len(coordinates)) < ones[arms, None]

    made = sureshot.best_arms(
        pull, n_arms, n_rewards, epsilon=epsilon, delta=0.1, method="bounded-me", rng=0
    )
    answer, numbers = fig1.ones_first(ones, n_rewards, epsilon, 0.1)
    assert answer.tolist() == made.indices.tolist()
    if n_arms > 1 and epsilon > 0:
        assert numbers == made.work.numbers_read == pulled.sum()


def test_the_lists_have_means_spread_over_the_unit_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lists = fig1.make_lists(0, 500, 2_000)
    assert lists.dtype == bool
    assert lists.flags.f_contiguous
    ones = fig1.count_ones(lists)
    np.testing.assert_array_equal(ones, lists.sum(axis=1))
    # A uniform sample of 500 is further than this from uniform once in a million (Kolmogorov).
    spread = np.abs(np.sort(ones / 2_000) - (np.arange(500) + 0.5) / 500).max()
    assert spread < 2.7 / np.sqrt(500)
    # How many are made at a time is no part of what a seed means.
    monkeypatch.setattr(fig1, "REWARDS_PER_CHUNK", 3_000)
    np.testing.assert_array_equal(fig1.make_lists(0, 500, 2_000), lists)


def test_a_row_has_what_its_case_asks_for() -> None:
    for way in fig1.WAYS:
        case = fig1.LossCase("fig1", 50, 1_200, *way, 0.1, (0.2, 0.5), seed=1)
        (row,) = fig1.measure([case])
        assert {"seed", "library", "numpy", "python", "cpu", "kind"} <= set(row)
        assert all(len(row[name]) == 2 for name in ("suboptimality", "numbers_read", "seconds"))
        assert all(0 <= loss <= 1 for loss in row["suboptimality"])
    rounds = bounded_me(50, 1_200, 1, 0.2, 0.1, 1.0)
    assert rounds[0].pulls * 50 <= row["n_arms"] * row["n_rewards"]


def test_lists_are_made_once_for_cases_that_follow_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []
    original = fig1.make_lists

    def spy(seed: int, n_arms: int, n_rewards: int) -> np.ndarray:
        made.append(seed)
        return original(seed, n_arms, n_rewards)

    monkeypatch.setattr(fig1, "make_lists", spy)
    sizes = replace(fig1.SCALES["small"], n_arms=20, n_rewards=1_100, runs=3)
    monkeypatch.setitem(fig1.SCALES, "small", sizes)
    found = list(fig1.measure(fig1.cases("small")))
    assert made == [0, 1, 2]
    assert len(found) == 3 * len(fig1.WAYS) * len(fig1.DELTAS)
    section = fig1_figure.section(found)
    assert len(section.tables[0].body) == len(fig1.WAYS) * len(sizes.epsilons)
    for way in fig1.WAYS:
        mine = fig1_figure.of_way(found, *way)
        worst = [max(row["suboptimality"][0] for row in mine if row["delta"] == 0.01)]
        assert fig1_figure.percentiles(mine, 0.01)[sizes.epsilons[0]] == worst[0]
