"""What Sample-MIPS and Diamond-MSIPS share: rows are drawn, and those with the most are candidates."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sureshot.baselines._core import drawn_seed, largest, share_or_count, whole_number
from sureshot.baselines.base import Found, Method
from sureshot.baselines.columns import Columns

if TYPE_CHECKING:
    from sureshot._types import Array, Floats
    from sureshot.baselines.rows import Rows


class Sampler(Method):
    """Candidates are the B rows with the largest sums after some draws.

    `fit` adds up blocks of each column in one pass, O(n N).

    Parameters
    ----------
    rng
        Seed or Generator; every query begins with the same seed.
    threads
        Threads that compute exact scores; all there are if None.
    """

    non_negative: ClassVar[bool] = False  # whether data and query must be
    squares: ClassVar[bool] = False  # whether the best rows are those with the largest squares

    def __init__(
        self, *, rng: int | np.random.Generator | None = None, threads: int | None = None
    ) -> None:
        super().__init__(threads=threads)
        self._seed = drawn_seed(rng)

    def _prepare(self, rows: Rows) -> None:
        """Add up the columns, and refuse negative values if there must be none."""
        user = type(self).__name__
        self._columns = Columns(rows, user=user, non_negative=self.non_negative)

    def query(self, query: Array, k: int, *, samples: int = 10_000, B: float = 0.1) -> Found:
        """Return the best of the candidates.

        Parameters
        ----------
        query, k
            One query, and how many rows are wanted.
        samples
            Draws.
        B
            Candidates, as a share of the rows (a float) or their number (an integer). Rows with equal
            sums, also those never met, are taken by the smaller index.
        """
        question, k = self.rows.checked(query, k)
        if self.non_negative and (question < 0).any():
            coordinate = int(np.argmax(question < 0))
            message = (
                f"{type(self).__name__} needs a query without negative values, got "
                f"{question[coordinate]:g} at coordinate {coordinate}"
            )
            raise ValueError(message)
        samples = whole_number(samples, "samples", 1)
        budget = share_or_count(B, "B", self.rows.count)
        weights = self._weights(question)
        sums, read = np.zeros(self.rows.count), 0
        if weights.any():
            rng = np.random.default_rng(self._seed)
            sums, read = self._sums(question, weights, samples, rng)
        read += self.rows.width
        return self._best(question, largest(sums, budget), k, read, squares=self.squares)

    def _weights(self, query: Floats) -> Floats:
        """Return the probability of each coordinate, |q_j| Σ_i |v_ij| over their sum, or only zeros."""
        weights: Floats = np.abs(query) * self._columns.totals
        return weights / (weights.sum() or 1.0)

    @abstractmethod
    def _sums(
        self, query: Floats, weights: Floats, samples: int, rng: np.random.Generator
    ) -> tuple[Floats, int]:
        """Return the sum of each row after some draws, and how many numbers they read."""
