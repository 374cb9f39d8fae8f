"""The public functions that put matrices together without copying them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._validate.arrays import data_array
from sureshot._validate.choices import kind
from sureshot._validate.numbers import finite_number
from sureshot.storage.base import Stored
from sureshot.storage.executors import ExecutorMatrix, described
from sureshot.storage.opening import opened
from sureshot.storage.stacks import ColumnStack, RowStack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    import numpy.typing as npt

    from sureshot._types import Array
    from sureshot.storage.partitioned import Partitioned


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
    >>> sureshot.top_k(vstack(shards), np.array([0, 0, 1, 0]), k=2).indices.tolist()
    [6, 2]
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


def partitioned(openers: Sequence[Callable[[], Array]], executor: Executor) -> Partitioned:
    """Put matrices one below the other that an executor reads, in its processes or on its machines.

    Parameters
    ----------
    openers
        Functions that return a part each, an array of one type and width: they are called where the part is
        read, at each call, so they should be quick, such as
        ``functools.partial(numpy.load, path, mmap_mode="r")``. They are sent to the executor, the numbers are not.
    executor
        Any ``concurrent.futures.Executor``: a pool of processes, or one of Ray, MPI or dask.

    Returns
    -------
    A partitioned matrix
        For `top_k` and `scan`. The answer is that of one machine.

    Examples
    --------
    >>> import functools, numpy as np, sureshot
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> openers = [functools.partial(np.full, (3, 8), value) for value in (1.0, 2.0)]
    >>> with ThreadPoolExecutor(2) as executor:
    ...     sureshot.top_k(partitioned(openers, executor), np.ones(8), k=1).indices.tolist()
    [3]
    """
    if not openers:
        raise ValueError("openers must hold at least one function, got none")
    for opener in openers:
        if not callable(opener):
            raise TypeError(f"openers must be functions without arguments, got {kind(opener)}")
    found = [future.result() for future in [executor.submit(described, one) for one in openers]]
    shapes, types = [shape for shape, _ in found], {dtype for _, dtype in found}
    if any(len(shape) != 2 for shape in shapes) or len({shape[-1] for shape in shapes}) > 1:
        raise ValueError(f"parts must be equally wide matrices, got shapes {shapes}")
    if len(types) > 1:
        raise TypeError(f"parts must be of one type, got {', '.join(sorted(map(str, types)))}")
    return ExecutorMatrix(
        openers, [shape[0] for shape in shapes], shapes[0][1], types.pop(), executor
    )


def _checked(parts: Sequence[Any]) -> list[Array | Stored]:
    matrices: list[Array | Stored] = []
    for part in parts:
        matrix = data_array(opened(part))
        if not isinstance(matrix, (np.ndarray, Stored)):
            raise TypeError(f"parts must be arrays or stored matrices, got {matrix!r}")
        matrices.append(matrix)
    if not matrices:
        raise ValueError("parts must hold at least one matrix, got none")
    types = {str(matrix.dtype) for matrix in matrices}
    if len(types) > 1:
        raise TypeError(f"parts must be of one type, got {', '.join(sorted(types))}")
    return matrices
