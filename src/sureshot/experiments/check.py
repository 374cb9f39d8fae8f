"""What the harness demands of an answer, whoever gives it, and the scores it trusts: its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from sureshot._types import Array, Floats, Ints

# Numbers that are converted to float64 at a time: 32 MB.
NUMBERS_PER_CHUNK = 1 << 22


class InvalidAnswer(RuntimeError):
    """A method returned something that is no answer; its rows would be worthless."""


def checked(indices: npt.ArrayLike, n_arms: int, k: int, method: str) -> Ints:
    """Return an answer as int64, or raise `InvalidAnswer`.

    It must be at most k different arms of the data. Fewer are allowed: a method that found too few
    candidates says so, and pays for it in precision.

    Examples
    --------
    >>> checked([3, 0], n_arms=4, k=2, method="exact")
    array([3, 0])
    """
    found = np.asarray(indices)
    if found.size == 0:
        found = np.empty(0, dtype=np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise InvalidAnswer(
            f"{method}: expected a flat array of integers, got {found.dtype} of shape {found.shape}"
        )
    if len(found) > k:
        raise InvalidAnswer(f"{method}: expected at most {k} arms, got {len(found)}")
    outside = found[(found < 0) | (found >= n_arms)]
    if len(outside):
        raise InvalidAnswer(f"{method}: expected arms from 0 to {n_arms - 1}, got {outside[0]}")
    if len(np.unique(found)) < len(found):
        raise InvalidAnswer(f"{method}: expected different arms, got {found.tolist()}")
    return found.astype(np.int64)


def true_scores(data: Array, queries: Array) -> Floats:
    """Return the inner product of each query with each row in float64, shape (queries, rows).

    Examples
    --------
    >>> true_scores(np.ones((2, 3), np.float32), np.array([[1.0, 2.0, 3.0]]))
    array([[6., 6.]])
    """
    rows = max(1, NUMBERS_PER_CHUNK // data.shape[1])
    asked = np.asarray(queries, dtype=np.float64).T
    parts = [
        data[start : start + rows].astype(np.float64) @ asked for start in range(0, len(data), rows)
    ]
    return np.ascontiguousarray(np.concatenate(parts).T)
