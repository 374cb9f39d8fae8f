"""What the tests of the bandits share: every method with each way to draw, and lists of rewards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot.search.methods import METHODS

if TYPE_CHECKING:
    from sureshot import TopK
    from sureshot._types import Floats, Ints
    from sureshot.search.methods import Method

Lists = Callable[[np.random.Generator], "Floats"]


@dataclass(frozen=True)
class Way:
    """A method and how it draws."""

    method: str
    replacement: bool

    def __str__(self) -> str:
        drawn = {True: "-with", False: "-without"}[self.replacement]
        return self.method + (drawn if self.record.replacement else "")

    @property
    def record(self) -> Method:
        """What the table says of the method."""
        return METHODS[self.method]

    @property
    def options(self) -> dict[str, Any]:
        budget = {"budget": 0.5} if self.record.budget == "required" else {}
        return {"method": self.method, "replacement": self.replacement} | budget


WAYS = [
    Way(method, replacement)
    for method in METHODS
    for replacement in ((True, False) if METHODS[method].replacement else (False,))
]
PROMISING = [way for way in WAYS if way.record.budget != "required"]


class Table:
    """A pull function that remembers which rewards were asked for."""

    def __init__(self, rewards: Floats) -> None:
        self.rewards = rewards
        self.pulled = np.zeros(rewards.shape, dtype=np.int64)

    def __call__(self, arms: Ints, coordinates: Ints) -> Floats:
        np.add.at(self.pulled, np.ix_(arms, coordinates), 1)
        return np.asarray(self.rewards[np.ix_(arms, coordinates)])


def best_arms(rewards: Floats, way: Way, k: int = 1, **more: Any) -> TopK:
    """Search a table of rewards in [0, 1]."""
    arguments: dict[str, Any] = {"epsilon": 0.2, "delta": 0.1, "rng": 0} | way.options | more
    pull = arguments.pop("pull", lambda arms, coordinates: rewards[np.ix_(arms, coordinates)])
    return sureshot.best_arms(pull, rewards.shape[0], rewards.shape[1], k, **arguments)


def loss(true_scores: Floats, chosen: Ints) -> float:
    """Return by how much the worst of the chosen arms is below the k-th best."""
    return float(np.sort(true_scores)[::-1][len(chosen) - 1] - true_scores[chosen].min())


def antithetic(n_arms: int, n_rewards: int, gap: float) -> Lists:
    """Lists of which the last one wins exactly where all others lose, with means `gap` apart."""

    def lists(rng: np.random.Generator) -> Floats:
        winner = np.zeros(n_rewards)
        winner[rng.permutation(n_rewards)[: round(n_rewards * (1 + gap) / 2)]] = 1
        return np.array([*([1 - winner] * (n_arms - 1)), winner])

    return lists


def bernoulli(n_arms: int, n_rewards: int) -> Lists:
    """Lists of zeros and ones with means all over [0, 1]."""
    return lambda rng: (rng.random((n_arms, n_rewards)) < rng.random((n_arms, 1))).astype(float)
