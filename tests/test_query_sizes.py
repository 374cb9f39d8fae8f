"""The sizes of queries, which the check of a large table finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sureshot
from sureshot import _native
from sureshot._native import Team
from sureshot._validate.arrays import LARGE_TABLE, sized_query_rows
from sureshot.query_sizes import QuerySizes

WIDTH = 1535


def large_table() -> np.ndarray:
    count = LARGE_TABLE // (4 * WIDTH) + 2
    return np.random.default_rng(3).standard_normal((count, WIDTH), dtype=np.float32)


def test_sizes_of_a_large_table_are_found_by_its_check() -> None:
    table = large_table()
    table[7] = 0
    queries, sizes = sized_query_rows(table, WIDTH, lambda: 2)
    assert np.shares_memory(queries, table)
    assert sizes is not None
    np.testing.assert_array_equal(sizes.largest, np.abs(table).max(axis=1))
    np.testing.assert_allclose(sizes.norms, np.linalg.norm(table.astype(np.float64), axis=1))
    some = sizes.part(slice(5, 9))
    for ours, theirs in zip(some, QuerySizes.of(table[5:9], Team(1)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_those_of_small_tables_are_not(rows: int, dtype: type) -> None:
    assert sized_query_rows(np.ones((rows, WIDTH), dtype), WIDTH, lambda: 2)[1] is None


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [(0, 0), (80, 1534), (-1, 17)])
def test_a_number_that_is_none_is_found_in_a_large_table(odd: float, at: tuple[int, int]) -> None:
    table = large_table()
    table[at] = odd
    query = at[0] % len(table)
    with pytest.raises(ValueError, match=f"got {odd} at coordinate {at[1]} of query {query}"):
        sureshot.top_k(large_table()[:50], table, 3)


@pytest.mark.parametrize("value", [3e38, 1e-45])
def test_extreme_numbers_are_finite(value: float) -> None:
    table = large_table()
    table[:] = value
    _, sizes = sized_query_rows(table, WIDTH, lambda: 2)
    assert sizes is not None
    assert sizes.are_finite
    assert not sizes.within(2 * value, 1e39)
    assert not sizes.within(0, value / 2)
    assert sizes.within(0, np.abs(table).max())


def test_a_table_of_zeros_is_within_everything() -> None:
    sizes = QuerySizes.of(np.zeros((4, 9), np.float32), Team(1))
    assert sizes.within(1, 2)


def test_queries_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    measure = _native.measure_queries

    def counted(queries: np.ndarray, *others: Any) -> None:
        calls.append(len(queries))
        measure(queries, *others)

    table, data = large_table(), large_table()
    alone = [sureshot.top_k(data, query, 3, method="exact") for query in table[:5]]
    with monkeypatch.context() as patch:
        patch.setattr(_native, "measure_queries", counted)
        found = sureshot.top_k(data, table, 3, method="exact")
    assert calls == [len(table)]
    for at, one in enumerate(alone):
        np.testing.assert_array_equal(found.indices[at], one.indices)
        np.testing.assert_array_equal(found.scores[at], one.scores)
