"""Diamond-MSIPS: the rows with the largest squared inner products, estimated from drawn triples."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from sureshot._validate import seed_of
from sureshot._validate_knobs import share_or_count
from sureshot._validate_pulls import whole_number
from sureshot.baselines.base import Found, Method
from sureshot.baselines.columns import Columns
from sureshot.search.problem import largest

if TYPE_CHECKING:
    from sureshot._types import Array


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

    def fit(self, data: Array) -> Self:
        """Add up the absolute values of the columns."""
        rows = self._keep(data)
        self._columns = Columns(rows, user="DiamondMSIPS")
        return self

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
        sizes = np.abs(question)
        weights = sizes * self._columns.totals
        accounts, read = np.zeros(rows.count), rows.width
        if weights.any():
            rng = np.random.default_rng(self._seed)
            columns = rng.choice(rows.width, samples, p=weights / weights.sum())
            drawn, own = self._columns.draw(columns, rng)
            others = rng.choice(rows.width, samples, p=sizes / sizes.sum())
            signs = np.sign(question[columns] * rows.data[drawn, columns] * question[others])
            terms = signs * rows.data[drawn, others]
            accounts += np.bincount(drawn, weights=terms, minlength=rows.count)
            read += own + 2 * samples
        return self._best(question, largest(accounts, budget), k, read, squares=True)
