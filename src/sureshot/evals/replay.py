"""What a search would have saved: searches of results that exist, against other ways to choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot.evals.replayed import Replayed, Strategy
from sureshot.evals.tables import table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from sureshot._types import Floats, Ints

Choice = tuple[int, int]  # which model, and how many answers it took


@dataclass(frozen=True, slots=True)
class Problem:
    """Results of models on examples, and what is asked of a choice."""

    table: Floats
    epsilon: float
    delta: float
    bounds: tuple[float, float]

    def search(self, seed: int, **options: Any) -> Choice:
        """Return what `best_arms` chooses, and what it took."""
        found = sureshot.best_arms(
            lambda models, examples: self.table[np.ix_(models, examples)],
            *self.table.shape,
            **{"epsilon": self.epsilon, "delta": self.delta, "bounds": self.bounds, **options},
            rng=seed,
        )
        return int(found.indices[0]), found.work.numbers_read

    def best_arms(self, seed: int, _calls: int) -> Choice:
        """Search until the best model is certain, up to epsilon and delta."""
        return self.search(seed)

    def everything(self, _seed: int, _calls: int) -> Choice:
        """Run every model on every example."""
        return int(self.table.mean(axis=1).argmax()), self.table.size

    def fixed_sample(self, seed: int, calls: int) -> Choice:
        """Run every model on the same random examples, with as many answers as the search took."""
        return self._on_sample(seed, calls // len(self.table))

    def certain_sample(self, seed: int, _calls: int) -> Choice:
        """Run every model on so many random examples that the same epsilon and delta are proved."""
        return self._on_sample(seed, self.certain_size())

    def successive_halving(self, seed: int, calls: int) -> Choice:
        """Drop half of the models again and again, with as many answers as the search took."""
        budget = min(1.0, calls / self.table.size)
        return self.search(seed, method="successive-halving", replacement=False, budget=budget)

    def certain_size(self) -> int:
        """Return the size of a sample on which no model seems better than a better one by epsilon.

        By the inequality of Hoeffding and Serfling for samples without replacement: the best model must
        not be underestimated, nor any other overestimated, by half of epsilon.
        """
        models, examples = self.table.shape
        if self.epsilon == 0:
            return int(examples)
        width = self.bounds[1] - self.bounds[0]
        u = 2 * (width / self.epsilon) ** 2 * np.log(models / self.delta)
        return min(int(examples), int(np.ceil((u + u / examples) / (1 + u / examples))))

    def _on_sample(self, seed: int, size: int) -> Choice:
        models, examples = self.table.shape
        size = min(examples, max(1, size))
        sample = np.random.default_rng(seed).permutation(examples)[:size]
        return int(self.table[:, sample].mean(axis=1).argmax()), models * size


# In the order of the table; the search comes first, since others get as many answers as it took.
STRATEGIES: dict[str, Callable[[Problem, int, int], Choice]] = {
    "best_arms": Problem.best_arms,
    "successive halving, as many answers": Problem.successive_halving,
    "fixed sample, as many answers": Problem.fixed_sample,
    "fixed sample, as certain": Problem.certain_sample,
    "everything": Problem.everything,
}


def replay(
    table: npt.ArrayLike | Any,
    *,
    models: Sequence[str] | None = None,
    epsilon: float = 0.02,
    delta: float = 0.05,
    bounds: tuple[float, float] = (0.0, 1.0),
    orders: int = 100,
    rng: int = 0,
) -> Replayed:
    """Find out what `best_arms` would have saved on results that exist.

    Searches a table of models and examples in many random orders, and compares what it took with running
    everything, with a fixed sample, and with successive halving.

    Parameters
    ----------
    table
        Results, shape (models, examples): whether each model was right, or any numbers within `bounds`.
        An array, or a DataFrame of pandas, whose index names the models.
    models
        A name for each model.
    epsilon, delta, bounds
        Of the search, as in `best_arms`.
    orders
        How many random orders of the examples to try.
    rng
        Seed of the first order; the others count up from it.

    Returns
    -------
    Replayed
        Prints as a table; ``plot()`` draws it; ``to_dict()`` is ready for JSON.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> right = rng.random((10, 2000)) < np.linspace(0.3, 0.8, 10)[:, None]
    >>> found = replay(right, epsilon=0.05, orders=5)
    >>> found["everything"].share, found["best_arms"].share < 0.25
    (1.0, True)
    """
    names, results = table_of(table, bounds, models)
    if orders < 1:
        raise ValueError(f"orders must be at least 1, got {orders}")
    problem = Problem(results, float(epsilon), float(delta), bounds)
    chosen: dict[str, list[int]] = {name: [] for name in STRATEGIES}
    calls: dict[str, list[int]] = {name: [] for name in STRATEGIES}
    for seed in range(rng, rng + orders):
        taken = 0
        for name, choose in STRATEGIES.items():
            model, spent = choose(problem, seed, taken)
            taken = taken or spent
            chosen[name].append(model)
            calls[name].append(spent)
    means = results.mean(axis=1)
    strategies = tuple(
        Strategy(name, _ints(chosen[name]), _ints(calls[name]), means) for name in STRATEGIES
    )
    return Replayed(names, results.shape, problem.epsilon, problem.delta, strategies)


def _ints(numbers: list[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)
