"""Matrices that are put together are searched as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import sureshot
from sureshot.storage.column_file import ColumnFileMatrix
from sureshot.storage.file import FileMatrix

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array


@pytest.fixture
def data() -> Array:
    """Rows that are cut into parts."""
    return np.random.default_rng(0).standard_normal((60, 900), dtype=np.float32)


def filed(rows: Array, path: Path) -> FileMatrix:
    rows.tofile(path)
    return FileMatrix(path, rows.dtype, rows.shape)


@pytest.mark.parametrize("metric", ["ip", "l1", "cosine"])
@pytest.mark.parametrize("method", ["exact", "betting"])
def test_a_stack_gives_the_answer_of_one_array(
    data: Array, metric: str, method: str, tmp_path: Path
) -> None:
    rows = sureshot.vstack([data[:13], filed(data[13:40], tmp_path / "a"), data[40:]])
    columns = sureshot.hstack([filed(data[:, :100].copy(), tmp_path / "b"), data[:, 100:]])
    nested = sureshot.vstack([sureshot.hstack([data[:7, :450], data[:7, 450:]]), data[7:]])
    query = data[5] + 1
    expected = sureshot.top_k(data, query, k=4, metric=metric, method="exact")
    for stack in (rows, columns, nested):
        assert stack.shape == data.shape
        found = sureshot.top_k(stack, query, k=4, metric=metric, method=method, rng=0, block=64)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.scores, expected.scores)
        np.testing.assert_array_equal(stack[59], data[59])


def test_weights_count_the_products_of_a_part(data: Array) -> None:
    stack = sureshot.hstack([data[:, :300], data[:, 300:]], weights=[-2, 0.5])
    query = np.random.default_rng(1).standard_normal(900)
    scores = -2.0 * data[:, :300] @ query[:300] + 0.5 * data[:, 300:] @ query[300:]
    found = sureshot.top_k(stack, query, k=5, rng=0)
    np.testing.assert_array_equal(found.indices, np.argsort(-scores)[:5])
    np.testing.assert_allclose(found.scores, np.sort(scores)[::-1][:5])
    with pytest.raises(
        ValueError, match=r"weights of its parts works with metric .* got metric='l1'"
    ):
        sureshot.top_k(stack, query, metric="l1")


def test_bad_parts(data: Array) -> None:
    with pytest.raises(ValueError, match="at least one matrix"):
        sureshot.vstack([])
    with pytest.raises(ValueError, match=r"equally wide, got widths \[8, 900\]"):
        sureshot.vstack([data, data[:, :8]])
    with pytest.raises(ValueError, match=r"as many rows, got \[8, 60\]"):
        sureshot.hstack([data, data[:8]])
    with pytest.raises(TypeError, match="of one type, got float32, float64"):
        sureshot.hstack([data, data.astype(np.float64)])
    with pytest.raises(ValueError, match="one factor for each of the 2 parts"):
        sureshot.hstack([data, data], weights=[1])
    with pytest.raises(TypeError, match="data must be a numpy array"):
        sureshot.vstack([[[1.0]]])


def test_portions_of_a_stack_are_short(data: Array, tmp_path: Path) -> None:
    data.T.tofile(tmp_path / "columns")
    columns = ColumnFileMatrix(tmp_path / "columns", data.dtype, data.shape)
    stack = sureshot.vstack([columns, filed(data, tmp_path / "rows"), columns])
    assert stack.stream_rows == columns.stream_rows
    assert np.unique(stack.units_of(np.arange(180))).size == 1 + 60 + 1
    query = data[5] + 1
    expected = sureshot.top_k(np.vstack([data, data, data]), query, k=4, method="exact")
    for method in ("exact", "betting"):
        found = sureshot.top_k(stack, query, k=4, method=method, rng=0, block=64)
        np.testing.assert_array_equal(found.scores, expected.scores)
