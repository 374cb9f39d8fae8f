"""The two passes of a scan over whole rows, wherever these are."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._elements import for_kernels
from sureshot._native import Team
from sureshot.sources.lane_sums import Squares
from sureshot.sources.portions import rows_of
from sureshot.storage.base import Stored
from sureshot.storage.partitioned import Call, Partitioned

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints
    from sureshot.storage.matrix import Matrix


def column_limits(data: Array | Matrix, arms: Ints, team: Team) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of each column among some rows."""
    low, high = np.full(data.shape[1], np.inf), np.full(data.shape[1], -np.inf)
    if isinstance(data, Partitioned):
        wanted = list(data.owners(arms))
        calls = [
            Call(at, limits_of_columns, (arms[own] - place.first_row,)) for at, place, own in wanted
        ]
        for (_, place, _), found in zip(wanted, data.run(calls), strict=True):
            columns = slice(*place.columns)
            np.minimum(low[columns], found[0], out=low[columns])
            np.maximum(high[columns], found[1], out=high[columns])
        return low, high
    assert isinstance(data, (np.ndarray, Stored)), "a matrix is stored or partitioned"
    with closing(rows_of(data, arms)) as portions:
        for rows in portions:
            found = limits_of_columns(rows.values, rows.arms, team)
            np.minimum(low[rows.columns], found[0], out=low[rows.columns])
            np.maximum(high[rows.columns], found[1], out=high[rows.columns])
    return low, high


def reach_and_squares(
    data: Array | Matrix, middle: Floats, unit: Floats, arms: Ints, team: Team
) -> tuple[Floats, Floats]:
    """Return the largest |value - middle| * unit of each row, and its squared norm."""
    reach, squares = np.zeros((2, len(arms)))
    if isinstance(data, Partitioned):
        wanted = list(data.owners(arms))
        # Partitions of the same columns are sent the same objects, which are packed once.
        parts = {
            first: (middle[first:last], unit[first:last])
            for first, last in {place.columns for _, place, _ in wanted}
        }
        calls = [
            Call(at, reach_of_rows, (*parts[place.first_column], arms[own] - place.first_row))
            for at, place, own in wanted
        ]
        for (_, _, own), found in zip(wanted, data.run(calls), strict=True):
            reach[own] = np.maximum(reach[own], found[0])
            squares[own] += found[1]
        return reach, squares
    assert isinstance(data, (np.ndarray, Stored)), "a matrix is stored or partitioned"
    with closing(rows_of(data, arms)) as portions:
        for rows in portions:
            some, columns = rows.places, rows.columns
            found = reach_of_rows(rows.values, middle[columns], unit[columns], rows.arms, team)
            np.maximum(reach[some], found[0], out=reach[some])
            if columns == slice(0, data.shape[1]):
                squares[some] = found[1]
                continue
            if columns.start == 0:
                sums = Squares(len(rows.arms))
            sums.add(rows.values, team)
            if columns.stop == data.shape[1]:
                squares[some] = sums.joined()
    return reach, squares


def limits_of_columns(values: Array, rows: Ints, team: Team | None = None) -> Floats:
    """Return the same of some rows of an array, (2, columns)."""
    found = np.empty((2, values.shape[1]))
    _native.column_limits(*for_kernels(values), rows, team or Team(1), *found)
    return found


def reach_of_rows(
    values: Array, middle: Floats, unit: Floats, rows: Ints, team: Team | None = None
) -> Floats:
    """Return the same of some rows of an array, (2, rows)."""
    found = np.empty((2, len(rows)))
    _native.scan_rows(*for_kernels(values), middle, unit, rows, team or Team(1), *found)
    return found
