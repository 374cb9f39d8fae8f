"""Several checkpoints of one training run, searched as one: the weighted sum of their scores.

A row's score is the sum over the checkpoints of weight times what that store gives for it. Each store is searched
on its own for its k' best rows, and all the rows found are evaluated in every store. No other row can have more than
the sum of the k'-th scores; if the k-th best sum is at least that, the search is over, else k' is doubled
(Fagin's threshold algorithm; "Several searches as one" in ``docs/theory.md``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.attribution.errors import StoreError
from sureshot.attribution.merging import combined
from sureshot.result import stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from sureshot import TopK
    from sureshot._types import Array, Floats, Ints
    from sureshot.attribution.store import Store

# The first search of each store asks for this many times k rows: stores of one run mostly agree, but not
# to the last place.
FIRST = 4
# From this part of all rows on, evaluating every row is cheaper than another search.
LARGEST_PART = 1 / 8
# More than the rounding of the sum over the checkpoints.
ROUNDING = 1e-12


class Checkpoints:
    """Stores of the same examples, one for each checkpoint.

    Parameters
    ----------
    stores
        Opened with `open_store`, with the same examples in the same order. Their widths may differ.
    weights
        Of each checkpoint, such as its learning rate; all 1 by default. Not 0; negative ones are allowed.
    """

    def __init__(self, stores: Iterable[Store], weights: npt.ArrayLike | None = None) -> None:
        self.stores = tuple(stores)
        if not self.stores:
            raise ValueError("stores must hold at least one store, got none")
        for store in self.stores[1:]:
            if not np.array_equal(store.examples, self.stores[0].examples):
                raise StoreError(
                    f"the stores must have the same examples in the same order, got {self.stores[0]} "
                    f"and {store}"
                )
        given = np.ones(len(self.stores)) if weights is None else np.asarray(weights, np.float64)
        if given.shape != (len(self.stores),):
            message = (
                f"weights must be one for each of {len(self.stores)} stores, got {given.shape}"
            )
            raise ValueError(message)
        if not (np.isfinite(given) & (given != 0)).all():
            raise ValueError(f"weights must be finite and not 0, got {given}")
        self.weights: Floats = given

    def __len__(self) -> int:
        return len(self.stores[0])

    @property
    def examples(self) -> Ints:
        """The number of the training example of each row."""
        return self.stores[0].examples

    def top_k(
        self,
        queries: Sequence[npt.ArrayLike],
        k: int = 10,
        *,
        epsilon: float = 0.0,
        delta: float = 0.05,
        reverse: bool = False,
        where: npt.ArrayLike | None = None,
        rng: int | np.random.Generator | None = None,
        **options: Any,
    ) -> TopK:
        """Find the k rows with the largest weighted sum of scores.

        Parameters
        ----------
        queries
            For each store the gradient at its checkpoint, or an array with one gradient per row.
        k, epsilon, delta, reverse, where, rng
            As in `Store.top_k`.
        **options
            ``modules``, ``unit_norm``, ``row_scale`` and ``threads`` of `Store.top_k`, for every store.

        Returns
        -------
        sureshot.TopK
            Its scores are the weighted sums.
        """
        if len(queries) != len(self.stores):
            message = (
                f"queries must be one for each of {len(self.stores)} stores, got {len(queries)}"
            )
            raise ValueError(message)
        if not epsilon >= 0:
            raise ValueError(f"epsilon must be at least 0, got {epsilon}")
        tables = [np.asarray(one) for one in queries]
        if len({table.shape[:-1] for table in tables}) != 1:
            shapes = [table.shape for table in tables]
            raise ValueError(f"queries must be as many for each store, got shapes {shapes}")
        search = _Search(
            self, k, epsilon, delta, reverse, where, np.random.default_rng(rng), options
        )
        if tables[0].ndim == 1:
            return search.run(tables)
        return stack([search.run(list(each)) for each in zip(*tables, strict=True)])


class _Search:
    """One search of several stores, which shares nothing between queries but its generator."""

    def __init__(
        self,
        checkpoints: Checkpoints,
        k: int,
        epsilon: float,
        delta: float,
        reverse: bool,
        where: npt.ArrayLike | None,
        generator: np.random.Generator,
        options: dict[str, Any],
    ) -> None:
        self.stores, self.weights = checkpoints.stores, checkpoints.weights
        self.k, self.epsilon, self.delta = k, epsilon, delta
        self.reverse, self.where = reverse, where
        self.generator, self.options = generator, options
        self.count = len(checkpoints)
        if where is not None:
            given = np.asarray(where)
            self.count = int(given.sum()) if given.dtype == np.bool_ else len(given)

    def run(self, queries: Sequence[Array]) -> TopK:
        """Search for one query, which has one gradient for each store."""
        done: list[TopK] = []
        wanted, delta = FIRST * self.k, self.delta
        while wanted < LARGEST_PART * self.count:
            delta /= 2  # half of what is left for this and the later searches
            found = [
                self._search(number, query, wanted, delta / len(self.stores))
                for number, query in enumerate(queries)
            ]
            done += found
            rows = np.unique(np.concatenate([one.indices for one in found]))
            sums = self._sums(queries, rows, done)
            last = np.array([one.scores[-1] for one in found])
            sign = -1.0 if self.reverse else 1.0
            beyond = sign * float(self.weights @ last)  # no other row has more
            beyond += ROUNDING * float(np.abs(self.weights) @ np.abs(last))
            threshold = np.sort(sign * sums)[-self.k]
            if threshold >= beyond - self.epsilon:
                return self._answer(done, rows, sums, epsilon=self.epsilon)
            wanted *= 2
        rows = self._all_rows()
        sums = self._sums(queries, rows, done := [])
        return self._answer(done, rows, sums, epsilon=0.0)

    def _search(self, number: int, query: Array, k: int, delta: float) -> TopK:
        """Return the k best rows of one store, by weight times score."""
        return self.stores[number].top_k(
            query,
            k,
            delta=delta,
            reverse=self.reverse != (self.weights[number] < 0),
            where=self.where,
            rng=self.generator,
            **self.options,
        )

    def _sums(self, queries: Sequence[Array], rows: Ints, done: list[TopK]) -> Floats:
        """Return the weighted sum of the exact scores of some rows; the work goes to `done`."""
        sums = np.zeros(len(rows))
        for store, weight, query in zip(self.stores, self.weights, queries, strict=True):
            found = store.top_k(query, len(rows), where=rows, method="exact", **self.options)
            sums[np.searchsorted(rows, found.indices)] += weight * found.scores
            done.append(found)
        return sums

    def _all_rows(self) -> Ints:
        if self.where is None:
            return np.arange(self.count)
        given = np.asarray(self.where)
        return np.flatnonzero(given) if given.dtype == np.bool_ else np.sort(given)

    def _answer(self, done: list[TopK], rows: Ints, sums: Floats, *, epsilon: float) -> TopK:
        best = np.lexsort((rows, sums if self.reverse else -sums))[: self.k]
        numbers = self.count * sum(store.shape[1] for store in self.stores)
        answer = combined(done, sums[best], rows[best].astype(np.int64), numbers)
        return replace(answer, certificate=replace(answer.certificate, epsilon=epsilon))
