"""Sample-MIPS: the rows that are drawn most often, in proportion to their products."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sureshot._validate import seed_of
from sureshot._validate_numbers import share_or_count, whole_number
from sureshot.baselines.base import Found, Method
from sureshot.baselines.columns import Columns
from sureshot.search.problem import largest

if TYPE_CHECKING:
    from sureshot._types import Array, Floats
    from sureshot.baselines.rows import Rows


class SampleMIPS(Method):
    """Candidates are the B rows that are met most often when pairs (i, j) are drawn by v_ij q_j.

    A coordinate j is drawn in proportion to q_j Σ_i v_ij and then a row in proportion to its value
    there, so row i is met with a probability in proportion to its score. Data and query must not
    have negative values. `fit` adds up blocks of each column in one pass, O(n N).

    More draws bring the counts nearer to the scores; how many are enough depends on the scores, and
    nothing is promised for a given number.

    Parameters
    ----------
    rng
        Seed or Generator; every query begins with the same seed.
    threads
        Threads that compute exact scores; all there are if None.

    References
    ----------
    E. Cohen, D. D. Lewis, *Approximating Matrix Multiplication for Pattern Recognition Tasks*, Journal of
    Algorithms 30, 1999.

    Examples
    --------
    >>> from sureshot.baselines import ExactMIPS
    >>> data = np.random.default_rng(0).random((100, 20)) ** 4
    >>> found = SampleMIPS(rng=0).fit(data).query(data[7], k=1, samples=1_000, B=0.2)
    >>> found.indices == ExactMIPS().fit(data).query(data[7], k=1).indices, found.candidates
    (array([ True]), 20)
    """

    name: ClassVar[str] = "sample"

    def __init__(
        self, *, rng: int | np.random.Generator | None = None, threads: int | None = None
    ) -> None:
        super().__init__(threads=threads)
        self._seed = seed_of(rng)

    def _prepare(self, rows: Rows) -> None:
        """Add up the columns, and refuse negative values."""
        self._columns = Columns(rows, user="SampleMIPS", non_negative=True)

    def query(
        self,
        query: Array,
        k: int,
        *,
        samples: int = 10_000,
        B: float = 0.1,
    ) -> Found:
        """Return the best of the candidates.

        Parameters
        ----------
        query, k
            One query without negative values, and how many rows are wanted.
        samples
            Pairs to draw.
        B
            Candidates, as a share of the rows (a float) or their number (an integer). Rows that were
            met equally often, also those never met, are taken by the smaller index.
        """
        rows = self.rows
        question, k = rows.checked(query, k)
        if (question < 0).any():
            coordinate = int(np.argmax(question < 0))
            message = (
                f"SampleMIPS needs a query without negative values, got {question[coordinate]:g} at "
                f"coordinate {coordinate}"
            )
            raise ValueError(message)
        samples = whole_number(samples, "samples", 1)
        budget = share_or_count(B, "B", rows.count)
        counts, read = self._counts(question, samples)
        return self._best(question, largest(counts, budget), k, read)

    def _counts(self, query: Floats, samples: int) -> tuple[Floats, int]:
        """Return how often each row is met, and how many numbers were read."""
        rows = self.rows
        weights = query * self._columns.totals
        if not weights.any():
            return np.zeros(rows.count), rows.width
        rng = np.random.default_rng(self._seed)
        columns = rng.choice(rows.width, samples, p=weights / weights.sum())
        drawn, read = self._columns.draw(columns, rng)
        return np.bincount(drawn, minlength=rows.count).astype(np.float64), rows.width + read
