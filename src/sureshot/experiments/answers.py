"""What an answer must be, whichever method returns it, and the true scores that it is compared with."""

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
    wanted = np.asarray(queries, dtype=np.float64)
    scores = np.zeros((len(wanted), len(data)))
    # A chunk of whole rows, or of whole columns where these lie side by side.
    if data.flags.c_contiguous:
        step = max(1, NUMBERS_PER_CHUNK // data.shape[1])
        for start in range(0, len(data), step):
            part = slice(start, start + step)
            scores[:, part] = wanted @ data[part].astype(np.float64).T
    else:
        step = max(1, NUMBERS_PER_CHUNK // len(data))
        for start in range(0, data.shape[1], step):
            part = slice(start, start + step)
            scores += wanted[:, part] @ data[:, part].astype(np.float64).T
    return scores
