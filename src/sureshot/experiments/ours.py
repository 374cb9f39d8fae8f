"""The library's own methods behind the contract of the baselines: fit, then query."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

import sureshot
from sureshot.baselines import Found

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.experiments.sets import DataSet


@dataclass(frozen=True, slots=True)
class Answer(Found):
    """What a query found and cost, and the loss in the mean reward that its certificate allows."""

    epsilon: float


class Ours:
    """One way to call `sureshot.top_k`.

    Parameters
    ----------
    known
        Whose limits are given to the search.
    seed
        Seed of the random orders. A query has its own, which does not depend on earlier ones.
    """

    needs_limits = True

    def __init__(self, known: DataSet, seed: int) -> None:
        self.limits = known.low, known.high
        self.bounds: tuple[float, float] | sureshot.Bounds = self.limits
        self.seed = seed
        self.data: Array = np.empty((0, 0))

    def fit(self, data: Array) -> Self:
        """Remember the data: there is nothing to prepare."""
        self.data = data
        return self

    def _search(self, query: Array, k: int, epsilon: float, **options: Any) -> Answer:
        """Search with an epsilon in the mean reward, as the paper counts it."""
        width = self.data.shape[1]
        found = sureshot.top_k(
            self.data,
            query,
            k,
            epsilon=epsilon * width,
            bounds=self.bounds,
            rng=np.random.default_rng([self.seed, zlib.crc32(query.tobytes())]),
            **options,
        )
        return Answer(
            indices=found.indices,
            scores=found.scores,
            candidates=found.work.exact_scores,
            numbers_read=found.work.numbers_read,
            epsilon=found.certificate.epsilon / width,
        )


class BoundedME(Ours):
    """BoundedME with the range that the limits and the query give: a promise that holds."""

    name: ClassVar[str] = "BoundedME"

    def query(self, query: Array, k: int, *, epsilon: float, delta: float) -> Answer:
        """Find the top k up to epsilon in the mean reward."""
        return self._search(query, k, epsilon, delta=delta, method="bounded-me")


class BoundedMEUnitRange(Ours):
    """BoundedME with R = 1 for any data, as the paper appears to have run it.

    The schedule depends on R and ε by R/ε alone. So R = 1 with ε is the search that promises R ε, R
    being the true range; and that is what is called, and promised. For ε itself there is no
    guarantee, unless the rewards have range 1. Coordinates where the query is 0 have no rewards to
    pull; the schedule is that of the others, with the same ε for their mean.
    """

    name: ClassVar[str] = "BoundedME, R = 1"

    def query(self, query: Array, k: int, *, epsilon: float, delta: float) -> Answer:
        """Find the top k with the pulls that R = 1 asks for.

        `epsilon` of the answer is R ε, times the share of the coordinates where the query is not 0.
        """
        pulled = np.count_nonzero(query) / len(query)
        epsilon *= self.true_range(query) * pulled
        return self._search(query, k, epsilon, delta=delta, method="bounded-me")

    def true_range(self, query: Array) -> float:
        """Return the width of an interval that holds every centred reward."""
        low, high = self.limits
        return float(np.abs(query).max()) * (high - low)


class BoundedMEByColumns(BoundedMEUnitRange):
    """The same on a copy in which a coordinate's numbers lie side by side, as its single pulls like it."""

    name: ClassVar[str] = "BoundedME, R = 1, columns"

    def fit(self, data: Array) -> Self:
        """Turn the data round: a copy as large as the data."""
        return super().fit(np.asfortranarray(data))


class Betting(Ours):
    """Betting with the limits of the values: no preparation."""

    name: ClassVar[str] = "betting"

    def query(
        self, query: Array, k: int, *, epsilon: float, delta: float, budget: float | None = None
    ) -> Answer:
        """Find the top k up to epsilon in the mean reward, or what the budget allows."""
        return self._search(query, k, epsilon, delta=delta, budget=budget)


class ScannedBetting(Betting):
    """Betting after a scan of the data, which finds the limits, too."""

    name: ClassVar[str] = "betting, scanned"
    needs_limits = False

    def fit(self, data: Array) -> Self:
        """Read the data once for its scales and norms."""
        self.bounds = sureshot.scan(data)
        return super().fit(data)


OURS: dict[str, type[BoundedME | BoundedMEUnitRange | Betting]] = {
    method.name: method
    for method in (Betting, ScannedBetting, BoundedME, BoundedMEUnitRange, BoundedMEByColumns)
}
