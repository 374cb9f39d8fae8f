"""The vertices that make up the current point, with their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A weight below this is what rounding has left of it.
SMALLEST_WEIGHT = 1e-15


class ActiveSet:
    """Vertices and their weights, which add up to 1.

    Their vectors are kept, so that steps away from a vertex read no atom again.
    """

    def __init__(self, atoms: NDArray[Any], index: int, scale: float) -> None:
        self._atoms = atoms
        self._keys = [(index, scale)]
        self._vectors = self._vector(index, scale)[None, :]
        self.weights = np.ones(1)

    def _vector(self, index: int, scale: float) -> NDArray[np.float64]:
        return np.asarray(scale * self._atoms[index].astype(np.float64))

    def place(self, index: int, scale: float) -> int:
        """Return where a vertex is; it is added with weight 0 if it is not there."""
        key = index, scale
        if key in self._keys:
            return self._keys.index(key)
        used = len(self._keys)
        if used == len(self._vectors):
            more = np.empty((2 * used, self._vectors.shape[1]))
            more[:used] = self._vectors
            self._vectors = more
        self._vectors[used] = self._vector(index, scale)
        self._keys.append(key)
        self.weights = np.append(self.weights, 0.0)
        return used

    @property
    def vectors(self) -> NDArray[np.float64]:
        """The vertices, one in each row."""
        return self._vectors[: len(self._keys)]

    def point(self) -> NDArray[np.float64]:
        """Return the combination of the vertices."""
        return np.asarray(self.weights @ self.vectors)

    def move(self, change: NDArray[np.float64]) -> None:
        """Change the weights, and drop the vertices that have none."""
        self.weights = self.weights + change
        for place in np.flatnonzero(self.weights <= SMALLEST_WEIGHT)[::-1]:
            # The last one takes its place, so that no other is copied.
            last = len(self._keys) - 1
            self._vectors[place] = self._vectors[last]
            self.weights[place] = self.weights[last]
            self._keys[place] = self._keys[last]
            del self._keys[last]
            self.weights = self.weights[:last]
        self.weights /= self.weights.sum()

    def coefficients(self) -> NDArray[np.float64]:
        """Return the coefficient of every atom."""
        coef = np.zeros(len(self._atoms))
        for (index, scale), weight in zip(self._keys, self.weights, strict=True):
            coef[index] += scale * weight
        return coef
