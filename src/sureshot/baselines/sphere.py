"""The reduction to nearest neighbours: one more coordinate puts all rows on a sphere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._types import Array, Floats
    from sureshot.baselines.rows import Rows


class Sphere:
    """Rows v lifted to [v; √(M² − |v|²)], M the largest norm (Bachrach et al. 2014).

    All lifted rows have norm M and the query is lifted by a 0, so inner products stay what they were
    and the nearest row is the one with the largest. The lifted matrix is never made: products with
    it are those of the data and one more term.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        norms = rows.norms()
        self.radius = float(norms.max())
        # As (M − |v|)(M + |v|): the difference of the squares would lose digits, or overflow.
        self.heights: Floats = np.sqrt(self.radius - norms) * np.sqrt(self.radius + norms)

    def projections(self, directions: Array, heights: Array) -> Floats:
        """Return the products of all lifted rows with some directions, shape (directions, n).

        Parameters
        ----------
        directions
            (directions, N), of the type of the data.
        heights
            The last coordinate of each direction.
        """
        found = np.empty((len(directions), self.rows.count))
        for piece, products in self.products(directions, heights):
            found[:, piece] = products
        return found

    def products(self, directions: Array, heights: Array) -> Iterator[tuple[slice, Floats]]:
        """Yield the same in pieces of rows, where all of it would be too much to keep."""
        tops = np.asarray(heights, dtype=np.float64)
        for piece in self.rows.pieces(at_once=len(directions)):
            products = (self.rows.data[piece] @ directions.T).T
            yield piece, products + np.multiply.outer(tops, self.heights[piece])

    def unit(self, query: Floats) -> Array:
        """Return the query at length 1, in the type of the data; a query of zeros stays one."""
        largest = float(np.abs(query).max())
        if largest > 0:
            query = query / largest
            query /= np.linalg.norm(query)
        return query.astype(self.rows.data.dtype)
