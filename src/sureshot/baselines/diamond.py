"""Diamond-MSIPS: the rows with the largest squared inner products, estimated from drawn triples."""

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


class DiamondMSIPS(Method):
    """The top k by **squared** inner product: a row with a large negative one is among the best.

    `scores` are the inner products with their signs, and the rows come by their absolute values,
    largest first. This is another problem than that of the other baselines; it has the same answer if
    no inner product is negative.

    Draw a coordinate j in proportion to |q_j| Σ_i |v_ij|, a row i in proportion to |v_ij|, a
    second coordinate j' in proportion to |q_j'|, and add sign(q_j v_ij q_j') v_ij' to the account of row
    i: its expectation is in proportion to the square of the score. Candidates are the B largest
    accounts. `fit` adds up blocks of each column in one pass, O(n N).

    The variance of the accounts is bounded, the quality of an answer for a given number of draws is
    not.

    Parameters
    ----------
    rng
        Seed or Generator; every query begins with the same seed.
    threads
        Threads that compute exact scores; all there are if None.

    References
    ----------
    G. Ballard, T. G. Kolda, A. Pinar, C. Seshadhri, *Diamond Sampling for Approximate Maximum All-Pairs
    Dot-Product (MAD) Search*, ICDM 2015.

    Examples
    --------
    >>> data = np.random.default_rng(0).normal(size=(100, 20))
    >>> found = DiamondMSIPS(rng=0).fit(data).query(-data[7], k=1, samples=10_000, B=0.2)
    >>> found.indices, found.scores < 0
    (array([7]), array([ True]))
    """

    name: ClassVar[str] = "diamond"

    def __init__(
        self, *, rng: int | np.random.Generator | None = None, threads: int | None = None
    ) -> None:
        super().__init__(threads=threads)
        self._seed = seed_of(rng)

    def _prepare(self, rows: Rows) -> None:
        """Add up the absolute values of the columns."""
        self._columns = Columns(rows, user="DiamondMSIPS")

    def query(
        self,
        query: Array,
        k: int,
        *,
        samples: int = 10_000,
        B: float = 0.1,
    ) -> Found:
        """Return the best of the candidates by squared inner product.

        Parameters
        ----------
        query, k
            One query, and how many rows are wanted.
        samples
            Triples to draw.
        B
            Candidates, as a share of the rows (a float) or their number (an integer). Rows with equal
            accounts are taken by the smaller index.
        """
        rows = self.rows
        question, k = rows.checked(query, k)
        samples = whole_number(samples, "samples", 1)
        budget = share_or_count(B, "B", rows.count)
        accounts, read = self._accounts(question, samples)
        return self._best(question, largest(accounts, budget), k, read, squares=True)

    def _accounts(self, query: Floats, samples: int) -> tuple[Floats, int]:
        """Return the account of each row, and how many numbers were read."""
        rows = self.rows
        sizes, signs = np.abs(query), np.sign(query)
        weights = sizes * self._columns.totals
        if not weights.any():
            return np.zeros(rows.count), rows.width
        rng = np.random.default_rng(self._seed)
        columns = rng.choice(rows.width, samples, p=weights / weights.sum())
        drawn, read = self._columns.draw(columns, rng)
        others = rng.choice(rows.width, samples, p=sizes / sizes.sum())
        # Sign by sign: the product of the values may be too small for a number.
        sign = signs[columns] * np.sign(rows.data[drawn, columns]) * signs[others]
        terms = sign * rows.data[drawn, others]
        accounts = np.bincount(drawn, weights=terms, minlength=rows.count).astype(np.float64)
        return accounts, rows.width + read + 2 * samples
