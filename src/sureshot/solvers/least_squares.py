"""Least squares over a growing set of atoms: a QR factorisation, one column more at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.solvers.products import dot

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

# An atom whose part outside the span of the others is this much of it is taken for one of the span: what is
# left of it then is rounding.
DEPENDENT = 1e-10


class LeastSquares:
    """The projection of a signal on the span of atoms that are added one by one.

    The factorisation is scipy's (`scipy.linalg.qr_insert`, which orthogonalises twice, on BLAS and LAPACK): a QR keeps
    the digits that a Cholesky factorisation of the Gram matrix loses with its squared condition number, and the
    residual needs no system to be solved.

    Attributes
    ----------
    residual
        The signal without its projection.
    """

    def __init__(self, signal: NDArray[np.float64]) -> None:
        self._linalg = _linalg()
        self.residual = signal.copy()
        self._q: Any = None
        self._r: Any = None
        self._projected: list[float] = []

    def add(self, atom: NDArray[np.float64]) -> bool:
        """Add an atom, and return True; or return False if it is in the span of the others already."""
        norm = math.sqrt(dot(atom, atom))
        if norm == 0:
            return False
        if self._q is None:
            self._q, self._r = (atom / norm)[:, None], np.array([[norm]])
        else:
            try:
                self._q, self._r = self._linalg.qr_insert(
                    self._q,
                    self._r,
                    atom,
                    self._q.shape[1],
                    which="col",
                    rcond=DEPENDENT,
                    check_finite=False,
                )
            except np.linalg.LinAlgError:
                return False
        latest = self._q[:, -1]
        self._projected.append(dot(latest, self.residual))
        self.residual -= self._projected[-1] * latest
        return True

    def coefficients(self) -> NDArray[np.float64]:
        """Return the coefficients of the atoms, in the order in which they were added."""
        if self._q is None:
            return np.empty(0)
        found: NDArray[np.float64] = self._linalg.solve_triangular(
            self._r, np.array(self._projected), check_finite=False
        )
        return found


def _linalg() -> ModuleType:
    try:
        import scipy.linalg  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        message = "orthogonal matching pursuit needs scipy: pip install 'sureshot[solvers]'"
        raise ModuleNotFoundError(message, name="scipy") from error
    module: ModuleType = scipy.linalg
    return module
