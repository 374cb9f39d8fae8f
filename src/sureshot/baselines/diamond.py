"""Diamond-MSIPS: the rows with the largest squared inner products, estimated from drawn triples."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sureshot.baselines.sampler import Sampler

if TYPE_CHECKING:
    from sureshot._types import Floats


class DiamondMSIPS(Sampler):
    """The top k by **squared** inner product: a row with a large negative one is among the best.

    `scores` are the inner products with their signs, and the rows come by their absolute values,
    largest first. This is another problem than that of the other baselines; it has the same answer if
    no inner product is negative.

    Draw a coordinate j in proportion to ``|q_j| Σ_i |v_ij|``, a row i in proportion to ``|v_ij|``, a
    second coordinate j' in proportion to ``|q_j'|``, and add ``sign(q_j v_ij q_j') v_ij'`` to the sum of row
    i: its expectation is in proportion to the square of the score. Candidates are the B largest
    sums. `fit` adds up blocks of each column in one pass, O(n N).

    The variance of the sums is bounded, the quality of an answer for a given number of draws is
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
    squares: ClassVar[bool] = True

    def _sums(
        self, query: Floats, weights: Floats, samples: int, rng: np.random.Generator
    ) -> tuple[Floats, int]:
        """Add up the terms of each row."""
        data = self.rows.data
        sizes, signs = np.abs(query), np.sign(query)
        columns = rng.choice(len(query), samples, p=weights)
        drawn, read = self._columns.draw(columns, rng)
        others = rng.choice(len(query), samples, p=sizes / sizes.sum())
        # Sign by sign: the product of the values may be too small for a number.
        sign = signs[columns] * np.sign(data[drawn, columns]) * signs[others]
        terms = sign * data[drawn, others]
        sums = np.bincount(drawn, weights=terms, minlength=self.rows.count)
        return sums.astype(np.float64), read + 2 * samples
