"""Arrays as the libraries take and return them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._types import Array, Floats, Ints
    from sureshot.baselines.rows import Rows


def pieces(rows: Rows) -> Iterator[Array]:
    """Yield the rows as the indexes take them, without a second copy of all."""
    for piece in rows.pieces():
        yield np.ascontiguousarray(rows.data[piece], np.float32)


def single(query: Floats) -> Array:
    """Return the query as the only row of float32."""
    return query.astype(np.float32)[None]


def found_rows(labels: Array) -> Ints:
    """Return the rows found; an index fills up with -1 what it did not find.

    Examples
    --------
    >>> found_rows(np.array([[4, 2, -1]]))
    array([2, 4])
    """
    flat = np.asarray(labels, np.int64).ravel()
    return np.unique(flat[flat >= 0])
