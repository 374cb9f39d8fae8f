"""Sample-MIPS: the rows that are drawn most often, in proportion to their products."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sureshot.baselines.sampler import Sampler

if TYPE_CHECKING:
    from sureshot._types import Floats


class SampleMIPS(Sampler):
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
    non_negative: ClassVar[bool] = True

    def _sums(
        self, query: Floats, weights: Floats, samples: int, rng: np.random.Generator
    ) -> tuple[Floats, int]:
        """Count how often each row is met."""
        columns = rng.choice(len(query), samples, p=weights)
        drawn, read = self._columns.draw(columns, rng)
        return np.bincount(drawn, minlength=self.rows.count).astype(np.float64), read
