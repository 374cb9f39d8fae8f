"""Scores of whole rows in float64, in an order that depends on the number of columns alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.cuda.order import folded, in_sequence
from sureshot.cuda.plan import LANES, WARPS, pieces_of

if TYPE_CHECKING:
    from sureshot._types import Array, Floats


def row_sums(rows: Array, query: Floats, chunk: int, *, squared_distance: bool = False) -> Floats:
    """Return the inner products of rows with the query, or their squared distances.

    Columns, filled up with zeros, are (pieces, units, warps, lanes, chunk). A lane adds its products of a piece one
    after the other, in the order of columns, from the first product on; the lanes of a warp are folded (lane l and
    l + 16, then l + 8, ...); each warp adds its pieces in their order, from 0 on; the warps are folded. Product and
    sum are rounded each.
    """
    n_rows, n_columns = rows.shape
    pieces, units = pieces_of(n_columns, chunk)
    piece = units * WARPS * LANES * chunk
    shape = (pieces, units, WARPS, LANES, chunk)
    q = _filled(np.asarray(query, dtype=np.float64)[None], pieces * piece).reshape(shape)
    totals = np.empty(n_rows)
    for i, row in enumerate(rows):
        v = _filled(row.astype(np.float64)[None], pieces * piece).reshape(shape)
        terms = (q - v) * (q - v) if squared_distance else v * q
        in_lanes = np.moveaxis(terms, 1, 3).reshape(pieces, WARPS, LANES, units * chunk)
        warps = np.zeros(WARPS)
        for sums in folded(in_sequence(in_lanes)):
            warps = warps + sums
        totals[i] = folded(warps)
    return totals


def _filled(rows: Floats, width: int) -> Floats:
    filled = np.zeros((len(rows), width))
    filled[:, : rows.shape[1]] = rows
    return filled
