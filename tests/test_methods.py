"""The table of methods, and what a result says of the algorithm that answered."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.search import product
from sureshot.search.leaders import leaders
from sureshot.search.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Floats, Ints


def table(n_arms: int, n_rewards: int) -> Floats:
    """Return rewards of 0 and 1 whose means are far apart."""
    rng = np.random.default_rng(0)
    chances = np.linspace(0.1, 0.9, n_arms)[:, None]
    return (rng.random((n_arms, n_rewards)) < chances).astype(np.float64)


def pull_from(rewards: Floats) -> Callable[[Ints, Ints], Floats]:
    return lambda arms, coordinates: rewards[np.ix_(arms, coordinates)]


def test_every_method_is_listed_under_its_own_name() -> None:
    assert [method.name for method in METHODS.values()] == list(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_a_record_does_not_contradict_itself(name: str) -> None:
    method = METHODS[name]
    assert (method.budget == "required") == (method.fewest_pulls is not None)
    # The limits are those of single rewards, so single rewards must be pulled.
    assert method.needs_limits == method.single_coordinates
    assert method.samples or method.budget == "none"


@pytest.mark.parametrize("name", METHODS)
def test_the_result_names_the_algorithm(name: str) -> None:
    rewards, method = table(20, 400), METHODS[name]
    options: dict[str, Any] = {"budget": 0.5} if method.budget == "required" else {}
    found = sureshot.best_arms(
        pull_from(rewards), 20, 400, epsilon=0.3, method=name, rng=0, **options
    )
    assert found.algorithm == ("leaders" if name == "betting" else name)
    assert found.to_dict()["algorithm"] == found.algorithm
    assert pickle.loads(pickle.dumps(found)).algorithm == found.algorithm


def test_few_arms_with_expensive_pulls_are_left_to_the_leaders() -> None:
    few = sureshot.best_arms(pull_from(table(20, 2000)), 20, 2000, epsilon=0.2, rng=0)
    assert few.algorithm == "leaders"
    assert few.certificate.scores == "estimate"
    n_arms = leaders.MOST_ARMS + 1
    many = sureshot.best_arms(pull_from(table(n_arms, 50)), n_arms, 50, epsilon=0.1, rng=0)
    assert many.algorithm == "race"
    assert many.certificate.scores == "exact"
    # As many arms are wanted as there are: there is nothing to find out.
    every = sureshot.best_arms(pull_from(table(5, 50)), 5, 50, 5, epsilon=0.1, rng=0)
    assert every.algorithm == "exact"


def test_rows_are_raced_unless_they_are_short() -> None:
    rng = np.random.default_rng(1)
    long = rng.random((50, 4096), dtype=np.float32)
    assert sureshot.top_k(long, long[3] - 0.5, 2, bounds=(0, 1), rng=0).algorithm == "race"
    short = long[:, :100]
    assert sureshot.top_k(short, short[3] - 0.5, 2, bounds=(0, 1), rng=0).algorithm == "exact"


def test_a_batch_names_the_algorithms_of_its_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "cost_together", lambda *_: np.inf)
    data = np.random.default_rng(2).random((60, 2048), dtype=np.float32)
    found = sureshot.top_k(data, data[:3] - 0.5, 2, metric="cosine", rng=0)
    # The first query finds the norms of the rows, which takes a whole pass.
    assert [one.algorithm for one in found.queries] == ["exact", "race", "race"]
    assert found.algorithm == "exact, race"
