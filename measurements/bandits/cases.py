"""What is measured of the bandits, and one measurement of it."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot.experiments import clock, metrics, rows
from sureshot.search.methods import METHODS
from sureshot.theory.elimination import median_elimination

if TYPE_CHECKING:
    from sureshot._types import Array, Bools, Ints
    from sureshot.experiments.rows import Row

# Median elimination as published needs so many pulls that they are counted, not made, from here on.
MOST_PULLS = 50_000_000

# Method and whether it draws with replacement.
COMPARED = (
    ("median-elimination", True),
    ("median-elimination", False),
    ("bounded-me", False),
    ("successive-elimination", True),
    ("successive-elimination", False),
    ("lucb", True),
    ("lucb", False),
    ("lil-ucb", True),
    ("lil-ucb", False),
    ("betting", False),
)
FIXED_BUDGET = tuple(name for name in METHODS if METHODS[name].budget == "required")


@dataclass(frozen=True, slots=True)
class BanditCase:
    """One search: which problem, what is asked, and of which method."""

    problem: str
    n_arms: int
    n_rewards: int
    epsilon: float
    delta: float
    method: str
    replacement: bool
    budget: float | None
    seed: int


@dataclass(frozen=True, slots=True)
class Sweep:
    """The cases of a run: a base problem, what is varied of it one at a time, and the models."""

    base: BanditCase
    n_rewards: tuple[int, ...]
    n_arms: tuple[int, ...]
    epsilon: tuple[float, ...]
    delta: tuple[float, ...]
    seeds: int
    models: BanditCase
    budgets: tuple[float, ...]
    model_seeds: int

    def cases(self) -> list[BanditCase]:
        """Return all the cases, each once."""
        points = [self.base]
        for name in VARIED:
            points += [replace(self.base, **{name: value}) for value in getattr(self, name)]
        found = [
            replace(point, method=method, replacement=replacement, seed=seed)
            for seed in range(self.seeds)
            for point in points
            for method, replacement in COMPARED
        ]
        for seed in range(self.model_seeds):
            model = replace(self.models, seed=seed)
            for method, replacement in (*COMPARED, ("exponential-gap", True)):
                found.append(replace(model, method=method, replacement=replacement))
            for method in FIXED_BUDGET:
                for budget in self.budgets:
                    for replacement in (True, False):
                        fixed = {"method": method, "replacement": replacement, "budget": budget}
                        found.append(replace(model, **fixed))  # type: ignore[arg-type]
        return list(dict.fromkeys(found))


VARIED = ("n_rewards", "n_arms", "epsilon", "delta")
SPREAD = BanditCase("spread", 300, 10_000, 0.05, 0.05, "betting", False, None, 0)
MODELS = BanditCase("models", 20, 2_000, 0.01, 0.05, "betting", False, None, 0)
FULL = Sweep(
    base=SPREAD,
    n_rewards=(1_000, 3_000, 10_000, 30_000, 100_000),
    n_arms=(10, 30, 100, 300, 1_000, 3_000),
    epsilon=(0.01, 0.02, 0.05, 0.1, 0.2, 0.4),
    delta=(1e-12, 1e-6, 1e-3, 0.05, 0.3),
    seeds=3,
    models=MODELS,
    budgets=(0.05, 0.2),
    model_seeds=20,
)
SMALL = Sweep(
    base=replace(SPREAD, n_arms=20, n_rewards=1_000, epsilon=0.2),
    n_rewards=(300, 1_000),
    n_arms=(10, 20),
    epsilon=(0.2, 0.4),
    delta=(0.01, 0.05),
    seeds=1,
    models=MODELS,
    budgets=(0.05,),
    model_seeds=1,
)


@functools.lru_cache(maxsize=1)
def rewards_of(problem: str, n_arms: int, n_rewards: int, seed: int) -> Bools:
    """Return lists of zeros and ones.

    Parameters
    ----------
    problem
        ``"spread"``: means drawn uniformly from [0, 1]. ``"models"``: as the accuracies of models
        on a test set are, one at 0.80, one at 0.77, the others over 0.40 to 0.75.
    n_arms, n_rewards, seed
        Size, and seed of the lists.
    """
    rng = np.random.default_rng([seed, n_arms, n_rewards])
    means = rng.random(n_arms)
    if problem == "models":
        means = np.concatenate([[0.80, 0.77], np.linspace(0.40, 0.75, n_arms - 2)])
        rng.shuffle(means)
    lists: Bools = rng.random((n_arms, n_rewards), dtype=np.float32) < means[:, None]
    return lists


def measure(case: BanditCase) -> Row:
    """Return the row of a case."""
    counted = _counted(case)
    return asdict(case) | (counted or _run(case)) | rows.environment()


def _counted(case: BanditCase) -> Row | None:
    """Return the pulls of median elimination as published where they are too many to be made."""
    if case.method != "median-elimination" or not case.replacement:
        return None
    rounds = median_elimination(case.n_arms, case.epsilon, -np.log(case.delta), 1.0)
    pulls = int(sum(this.arms * this.pulls for this in rounds))
    if pulls <= MOST_PULLS:
        return None
    share = pulls / (case.n_arms * case.n_rewards)
    return {"kind": "schedule", "pulls": pulls, "share": share, "rounds": len(rounds)}


def _run(case: BanditCase) -> Row:
    lists = rewards_of(case.problem, case.n_arms, case.n_rewards, case.seed)

    def pull(arms: Ints, coordinates: Ints) -> Array:
        return lists[np.ix_(arms, coordinates)]

    options: dict[str, Any] = {"method": case.method, "replacement": case.replacement}
    if case.budget is not None:
        options["budget"] = case.budget
    found, seconds = clock.timed(
        lambda: sureshot.best_arms(
            pull,
            case.n_arms,
            case.n_rewards,
            epsilon=case.epsilon,
            delta=case.delta,
            rng=case.seed,
            **options,
        )
    )
    means = lists.mean(axis=1)
    return {
        "kind": "run",
        "pulls": found.work.numbers_read,
        "share": found.work.share,
        "rounds": found.work.rounds,
        "seconds": seconds,
        "suboptimality": metrics.suboptimality(found.indices, means, 1),
        "promised_epsilon": found.certificate.epsilon,
        "promised_delta": found.certificate.delta,
    }
