"""Matching pursuit and orthogonal matching pursuit: the atom with the largest |inner product|, again and again."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.solvers.dictionary import atoms_of, count, nonnegative, vector
from sureshot.solvers.least_squares import LeastSquares
from sureshot.solvers.path import Path, Solution
from sureshot.solvers.products import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A residual of this share of the signal is what rounding has left of it, in float64.
NOTHING_LEFT = 1e-14
CLAIM = "each of the {0} chosen atoms was the best one for the residual that it was chosen for"


@dataclass(frozen=True, eq=False, kw_only=True)
class Pursuit(Solution):
    """A signal as a combination of few atoms.

    Attributes
    ----------
    coef, certificate, work, answers
        The coefficient of every atom, and as in `Solution` what is known of the path; each step has asked once.
    support
        The atoms, in the order in which they were chosen; in matching pursuit an atom can be chosen again.
    residual
        What the combination leaves of the signal.
    squared_errors
        The squared norm of the residual: before the first step, and after each.
    """

    support: NDArray[np.int64]
    residual: NDArray[np.float64]
    squared_errors: NDArray[np.float64]


def matching_pursuit(
    dictionary: NDArray[Any],
    signal: Any,
    *,
    max_iter: int,
    tol: float | None = None,
    atoms: str = "columns",
    delta: float = 0.05,
    bounds: Any = "scan",
    method: str = "betting",
    rng: Any = None,
    threads: int | None = None,
) -> Pursuit:
    """Approximate a signal greedily: at each step by the atom that has most in common with what is left.

    Parameters
    ----------
    dictionary
        Array or memory map with an atom in each column (samples × atoms, as in scikit-learn) or in each row, of a type that
        `sureshot.top_k` reads, in any memory order; it is not copied. Atoms are meant to have unit norm: those of larger norm are
        preferred, as in scikit-learn.
    signal
        What is approximated, one number for each sample.
    max_iter
        The most steps.
    tol
        Stop when the squared norm of the residual is at most this. None: only when nothing but rounding is left.
    atoms
        ``"columns"`` or ``"rows"``: where the atoms are.
    delta
        Allowed probability that any step takes another than the best atom.
    bounds
        What is known of the atoms, as in `sureshot.top_k`; by default they are scanned once. For several signals scan them
        before: ``sureshot.scan(dictionary.T)`` if the atoms are columns.
    method
        As in `sureshot.top_k`; ``"exact"`` reads everything at each step.
    rng
        Seed or numpy Generator; all steps draw from one generator.
    threads
        As in `sureshot.top_k`.

    Returns
    -------
    Pursuit
        ``coef``, ``support``, ``residual``, ``certificate``, ``work``.

    Examples
    --------
    >>> import numpy as np
    >>> dictionary = np.eye(4)
    >>> matching_pursuit(dictionary, [0.0, 3.0, -5.0, 1.0], max_iter=2).coef.tolist()
    [0.0, 3.0, -5.0, 0.0]
    """
    rows = atoms_of(dictionary, atoms)
    residual = vector(signal, "signal", rows.shape[1])
    most = count(max_iter, "max_iter")
    limit = error_limit(residual, tol)
    path = _path(rows, delta, most, bounds, method, rng, threads)
    coef, errors = np.zeros(len(rows)), [dot(residual, residual)]
    chosen: list[int] = []
    expected = path.expected_score(residual, most)
    while len(chosen) < most and errors[-1] > limit:
        best = int(path.ask(residual, expected=None if chosen else expected).indices[0])
        atom = rows[best].astype(np.float64)
        product = dot(atom, residual)
        if product == 0:  # orthogonal to all atoms
            break
        part = product / dot(atom, atom)
        coef[best] += part
        residual -= part * atom
        chosen.append(best)
        errors.append(dot(residual, residual))
    return _pursuit(coef, chosen, residual, errors, path)


def orthogonal_matching_pursuit(
    dictionary: NDArray[Any],
    signal: Any,
    *,
    n_nonzero_coefs: int | None = None,
    tol: float | None = None,
    atoms: str = "columns",
    delta: float = 0.05,
    bounds: Any = "scan",
    method: str = "betting",
    rng: Any = None,
    threads: int | None = None,
) -> Pursuit:
    """Approximate a signal greedily, with the best coefficients for all chosen atoms after each step.

    What ``sklearn.linear_model.orthogonal_mp`` does, without a Gram matrix and without reading all atoms at each step. Needs
    scipy.

    Parameters
    ----------
    dictionary, signal, atoms, delta, bounds, method, rng, threads
        As in `matching_pursuit`.
    n_nonzero_coefs
        How many atoms. None: a tenth of them, unless `tol` is given.
    tol
        Stop when the squared norm of the residual is at most this; `n_nonzero_coefs` is then the most atoms, if it is
        given.

    Returns
    -------
    Pursuit
        ``coef``, ``support``, ``residual``, ``certificate``, ``work``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> atoms = rng.normal(size=(500, 200))
    >>> signal = 2 * atoms[7] - atoms[300]
    >>> found = orthogonal_matching_pursuit(atoms, signal, n_nonzero_coefs=2, atoms="rows", rng=0)
    >>> np.flatnonzero(found.coef).tolist(), found.coef[[7, 300]].round(6).tolist()
    ([7, 300], [2.0, -1.0])
    """
    rows = atoms_of(dictionary, atoms)
    wanted = vector(signal, "signal", rows.shape[1])
    most = most_atoms(n_nonzero_coefs, tol, len(rows))
    limit = error_limit(wanted, tol)
    # With a tolerance alone the path may end long before all atoms are used.
    questions = None if n_nonzero_coefs is None and tol is not None else most
    path = _path(rows, delta, questions, bounds, method, rng, threads)
    return pursue(path, wanted, most, limit, centre=False)


def pursue(
    path: Path, signal: NDArray[np.float64], most: int, limit: float, *, centre: bool
) -> Pursuit:
    """Choose atoms until there are so many, or until the squared error is at most the limit.

    With `centre` the means of atoms are subtracted, of chosen ones only: the signal has mean 0, and so has every residual, so
    that its inner products with atoms are the same with and without their means.
    """
    squares = LeastSquares(signal)
    chosen: list[int] = []
    errors = [dot(signal, signal)]
    expected = path.expected_score(signal, most)
    while len(chosen) < most and errors[-1] > limit:
        best = int(path.ask(squares.residual, expected=None if chosen else expected).indices[0])
        atom = path.atoms[best].astype(np.float64)
        if centre:
            atom -= atom.mean()
        if best in chosen or not squares.add(atom):
            message = (
                f"orthogonal matching pursuit ended after {len(chosen)} atoms: no other atom has more than rounding in "
                "common with what is left of the signal"
            )
            warnings.warn(message, RuntimeWarning, stacklevel=3)
            break
        chosen.append(best)
        errors.append(dot(squares.residual, squares.residual))
    coef = np.zeros(len(path.atoms))
    coef[chosen] = squares.coefficients()
    return _pursuit(coef, chosen, squares.residual, errors, path)


def most_atoms(n_nonzero_coefs: Any, tol: float | None, n_atoms: int) -> int:
    """Return how many atoms may be chosen: as many as given, all of them up to a tolerance, or a tenth."""
    if n_nonzero_coefs is None:
        return n_atoms if tol is not None else max(n_atoms // 10, 1)
    most = count(n_nonzero_coefs, "n_nonzero_coefs")
    if most > n_atoms:
        message = f"n_nonzero_coefs must be at most the number of atoms, {n_atoms}, got {most}"
        raise ValueError(message)
    return most


def error_limit(signal: NDArray[np.float64], tol: Any) -> float:
    """Return up to which squared error a pursuit goes on."""
    rounding = NOTHING_LEFT**2 * dot(signal, signal)
    return rounding if tol is None else max(rounding, nonnegative(tol, "tol"))


def _path(
    rows: NDArray[Any],
    delta: float,
    questions: int | None,
    bounds: Any,
    method: str,
    rng: Any,
    threads: int | None,
) -> Path:
    return Path(
        rows,
        metric="abs-ip",
        delta=delta,
        questions=questions,
        bounds=bounds,
        method=method,
        rng=rng,
        threads=threads,
    )


def _pursuit(
    coef: NDArray[np.float64],
    chosen: list[int],
    residual: NDArray[np.float64],
    errors: list[float],
    path: Path,
) -> Pursuit:
    return Pursuit(
        coef=coef,
        support=np.array(chosen, dtype=np.int64),
        residual=residual,
        squared_errors=np.array(errors),
        certificate=path.certificate(CLAIM.format(len(chosen))),
        work=path.work(),
        answers=tuple(path.answers),
    )
