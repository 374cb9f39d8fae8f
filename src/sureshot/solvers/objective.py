"""What Frank–Wolfe minimises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sureshot.solvers.products import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]


class Objective(Protocol):
    """A smooth convex function of a point."""

    def value(self, point: Vector) -> float:
        """Return the value at a point."""

    def gradient(self, point: Vector) -> Vector:
        """Return the gradient at a point."""

    def step(self, point: Vector, direction: Vector, largest: float) -> float:
        """Return how far to go from a point in a direction, from 0 to `largest`."""


class Quadratic:
    """½ zᵀ H z − bᵀ z + ½ bᵀ b, with an exact line search; without H half the squared distance from b.

    Parameters
    ----------
    linear
        The vector b: for least squares the target.
    hessian
        The matrix H, symmetric with no negative eigenvalue: an array of shape (N, N), its diagonal of shape (N,), or None for
        the identity.

    Examples
    --------
    >>> import numpy as np
    >>> half_distance = Quadratic([1.0, 2.0])
    >>> half_distance.value(np.zeros(2)), half_distance.gradient(np.zeros(2)).tolist()
    (2.5, [-1.0, -2.0])
    """

    def __init__(self, linear: Any, hessian: Any = None) -> None:
        self.linear = np.array(linear, dtype=np.float64)
        if self.linear.ndim != 1 or not np.isfinite(self.linear).all():
            message = f"linear must be a finite vector, got an array of shape {self.linear.shape}"
            raise ValueError(message)
        self.hessian = None if hessian is None else np.asarray(hessian, dtype=np.float64)
        width = len(self.linear)
        if self.hessian is not None and self.hessian.shape not in ((width,), (width, width)):
            message = f"hessian must have shape ({width}, {width}) or ({width},), got {self.hessian.shape}"
            raise ValueError(message)
        self._constant = 0.5 * dot(self.linear, self.linear)

    def value(self, point: Vector) -> float:
        """Return the value at a point."""
        if self.hessian is None:
            rest = point - self.linear
            return 0.5 * dot(rest, rest)
        half = 0.5 * dot(point, self._times(point))
        return half - dot(self.linear, point) + self._constant

    def gradient(self, point: Vector) -> Vector:
        """Return the gradient at a point."""
        return self._times(point) - self.linear

    def step(self, point: Vector, direction: Vector, largest: float) -> float:
        """Return the step to the least value on the line."""
        slope = -dot(self.gradient(point), direction)
        curvature = dot(direction, self._times(direction))
        if slope <= 0:
            return 0.0
        return largest if curvature * largest <= slope else slope / curvature

    def _times(self, vector: Vector) -> Vector:
        if self.hessian is None:
            return vector
        return self.hessian * vector if self.hessian.ndim == 1 else self.hessian @ vector
