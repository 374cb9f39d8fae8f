"""The public functions that put matrices together without copying them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._validate.arrays import data_array
from sureshot._validate.numbers import finite_number
from sureshot.storage.opening import opened
from sureshot.storage.stacks import ColumnStack, RowStack

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from sureshot._types import Array
    from sureshot.storage.base import Stored


def vstack(parts: Sequence[Any]) -> Stored:
    """Put matrices of equal width one below the other: shards of rows, as one matrix.

    Parameters
    ----------
    parts
        Arrays, memory maps and stored matrices (see `open_matrix`) of one type. Nothing is read or copied.

    Returns
    -------
    A stored matrix
        For `top_k` and `scan`. Rows are numbered through.

    Examples
    --------
    >>> import numpy as np, sureshot
    >>> shards = [np.eye(4, dtype=np.float32), 2 * np.eye(4, dtype=np.float32)]
    >>> sureshot.top_k(vstack(shards), np.array([0, 0, 1, 0]), k=2).indices
    array([6, 2])
    """
    matrices = _checked(parts)
    widths = {matrix.shape[1] for matrix in matrices}
    if len(widths) > 1:
        raise ValueError(f"parts must be equally wide, got widths {sorted(widths)}")
    return RowStack(matrices)


def hstack(parts: Sequence[Any], weights: npt.ArrayLike | None = None) -> Stored:
    """Put matrices of equal height side by side: modules or checkpoints, as one matrix.

    Parameters
    ----------
    parts
        As those of `vstack`.
    weights
        A factor for the inner products of each part: the score of a row is the weighted sum of its parts'. For
        ``metric="ip"`` and ``"abs-ip"``.

    Returns
    -------
    A stored matrix
        For `top_k` and `scan`. Columns are numbered through.

    Examples
    --------
    >>> import numpy as np, sureshot
    >>> both = hstack([np.eye(3), np.eye(3)[::-1].copy()], weights=[1, 0.5])
    >>> sureshot.top_k(both, np.array([0, 0, 1, 0, 1, 1]), k=2).scores
    array([1. , 0.5])
    """
    matrices = _checked(parts)
    heights = {matrix.shape[0] for matrix in matrices}
    if len(heights) > 1:
        raise ValueError(f"parts must have as many rows, got {sorted(heights)}")
    if weights is None:
        return ColumnStack(matrices, None)
    given = np.asarray(weights)
    if given.shape != (len(matrices),):
        message = (
            f"weights must have one factor for each of the {len(matrices)} parts, got {weights!r}"
        )
        raise ValueError(message)
    return ColumnStack(
        matrices, np.array([finite_number(one, "weights") for one in given.tolist()])
    )


def _checked(parts: Sequence[Any]) -> list[Array | Stored]:
    matrices = [data_array(opened(part)) for part in parts]
    if not matrices:
        raise ValueError("parts must hold at least one matrix, got none")
    types = {str(matrix.dtype) for matrix in matrices}
    if len(types) > 1:
        raise TypeError(f"parts must be of one type, got {', '.join(sorted(types))}")
    return matrices
