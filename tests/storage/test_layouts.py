"""Matrices whose columns, chunks or rows do not come as a search wants them: what is read, and how often."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot import StorageError
from sureshot.sources import portions
from sureshot.storage.chunked import ChunkedMatrix
from sureshot.storage.column_file import ColumnFileMatrix
from sureshot.storage.file import FileMatrix

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array, Floats
    from sureshot.storage.base import Stored

COLUMNS = 3011


@pytest.fixture(scope="module")
def data() -> Array:
    """Rows of which a few have large scores."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((150, 4)) @ rng.standard_normal((4, COLUMNS))
    return (np.exp(rng.standard_normal((150, 1))) * rows).astype(np.float32)


@pytest.fixture(scope="module")
def queries(data: Array) -> Floats:
    """Queries that a row resembles."""
    noise = np.random.default_rng(1).standard_normal((3, COLUMNS))
    queries: Floats = noise + data[17]
    return queries


class Counted:
    """An array in chunks that counts how often each of them is read."""

    def __init__(self, data: Array, chunk: tuple[int, int]) -> None:
        self.data, self.chunk = data, chunk
        self.shape, self.dtype = data.shape, data.dtype
        self.reads: dict[tuple[int, int], int] = {}

    def __getitem__(self, at: tuple[slice, slice]) -> Array:
        rows, columns = (
            range(one.start // size, -(-one.stop // size))
            for one, size in zip(at, self.chunk, strict=True)
        )
        for chunk in [(row, column) for row in rows for column in columns]:
            self.reads[chunk] = self.reads.get(chunk, 0) + 1
        return self.data[at]


def by_column(data: Array, folder: Path) -> Stored:
    data.T.tofile(folder / "columns")
    return ColumnFileMatrix(folder / "columns", data.dtype, data.shape)


def by_row(data: Array, folder: Path) -> Stored:
    data.tofile(folder / "rows")
    return FileMatrix(folder / "rows", data.dtype, data.shape)


def in_chunks(data: Array, _: Path) -> Stored:
    return ChunkedMatrix(Counted(data, (64, 70)), (64, 70), name="chunks")


LAYOUTS = {"by column": by_column, "by row": by_row, "in chunks": in_chunks}
# Bytes in which no row comes whole.
SHORT_PORTIONS = {"by column": 200_000, "by row": 8_000, "in chunks": 8_000}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.parametrize("metric", ["ip", "cosine", "l1"])
def test_every_layout_gives_the_answer_of_memory(
    data: Array,
    queries: Floats,
    layout: str,
    metric: str,
    cut: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if cut:
        monkeypatch.setattr(portions, "BYTES_OF_PORTION", SHORT_PORTIONS[layout])
    matrix = LAYOUTS[layout](data, tmp_path)
    ways: list[dict[str, Any]] = [{"method": "exact"}]
    if not cut:
        ways += [{}, {"bounds": "scan"}, {"where": np.arange(3, 140, 5)}]
    for how in ways:
        expected, found = (
            sureshot.top_k(rows, queries, 4, metric=metric, rng=1, block=16, **how)
            for rows in (data, matrix)
        )
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.scores, expected.scores)
    scanned, expected_scan = sureshot.scan(matrix), sureshot.scan(data)
    for name in ("norms", "middle", "scale", "reach"):
        np.testing.assert_array_equal(getattr(scanned, name), getattr(expected_scan, name))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int16", "bool"])
def test_every_type_by_column(data: Array, dtype: str, tmp_path: Path) -> None:
    rows = (data > 0).astype(dtype) if dtype == "bool" else (10 * np.tanh(data)).astype(dtype)
    matrix, query = by_column(rows, tmp_path), np.arange(COLUMNS) % 7 - 3.0
    expected, found = (sureshot.top_k(one, query, 5, rng=0, block=8) for one in (rows, matrix))
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_pieces_by_column(data: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sureshot.storage.column_file.UNIT", 32)
    monkeypatch.setattr("sureshot.storage.column_file.AT_ONCE", 1000)
    matrix = by_column(data, tmp_path)
    for rows in (np.array([149, 3, 4]), np.arange(7, 90), np.array([148]), np.arange(0, 150, 2)):
        starts, out = np.array([600, 0, 33]), np.empty((len(rows), 3, 9), data.dtype)
        matrix.read(rows, starts, 9, out)
        for at, start in enumerate(starts):
            np.testing.assert_array_equal(out[:, at], data[rows, start : start + 9])


@pytest.mark.parametrize("portion", [1000, 500_000, 1 << 25])
def test_a_pass_reads_every_chunk_once(
    data: Array, queries: Floats, portion: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "BYTES_OF_PORTION", portion)
    monkeypatch.setattr("sureshot.search.exact.NUMBERS_PER_ROUND", 20 * COLUMNS)
    array = Counted(data, (64, 70))
    matrix = ChunkedMatrix(array, array.chunk, name="chunks")
    found = sureshot.top_k(matrix, queries[0], method="exact")
    assert len(found.rounds) > 1
    assert len(array.reads) == 3 * 44
    assert set(array.reads.values()) == {1}
    array.reads.clear()
    sureshot.top_k(matrix, queries, method="exact")
    assert set(array.reads.values()) == {1}


def test_blocks_that_share_a_chunk_read_it_once(data: Array) -> None:
    array = Counted(data, (64, 1000))
    matrix = ChunkedMatrix(array, array.chunk, name="chunks")
    rows, starts = np.array([3, 70, 5]), np.array([995, 0, 300, 2500])
    out = np.empty((3, 4, 50), data.dtype)
    matrix.read(rows, starts, 50, out)
    for at, start in enumerate(starts):
        np.testing.assert_array_equal(out[:, at], data[rows, start : start + 50])
    assert array.reads == {(row, column): 1 for row in (0, 1) for column in (0, 1, 2)}


def test_two_rows_of_a_tall_chunk_take_the_memory_of_one_chunk(data: Array) -> None:
    class Watched(Counted):
        largest = 0

        def __getitem__(self, at: tuple[slice, slice]) -> Array:
            found = super().__getitem__(at)
            self.largest = max(self.largest, found.nbytes)
            return found

    array = Watched(data, (150, 10))
    matrix = ChunkedMatrix(array, array.chunk, name="chunks", threads=8)
    sureshot.top_k(matrix, np.ones(COLUMNS), 1, where=[0, 149], method="exact")
    assert array.largest == 150 * 10 * 4
    huge = Counted(np.broadcast_to(np.float32(0), (1 << 14, 1 << 14)), (1 << 14, 1 << 12))
    assert ChunkedMatrix(huge, huge.chunk, name="huge", threads=8).threads == 1


def test_rows_longer_than_memory_allows_come_in_parts(
    data: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "BYTES_OF_PORTION", 1 << 12)
    matrix = by_row(data, tmp_path)
    sizes = [rows.values.nbytes for rows in portions.rows_of(matrix, np.arange(150))]
    assert max(sizes) <= 1 << 12
    assert sum(sizes) == data.nbytes


def test_short_pieces_are_few_at_a_time(data: Array, tmp_path: Path) -> None:
    matrix = by_row(data, tmp_path)
    starts = np.arange(COLUMNS)
    counts = [one.values.size for one in portions.pieces_of(matrix, np.arange(150), starts, 1)]
    assert sum(counts) == data.size
    assert max(counts) <= 1 << 13  # requests, of which a disk answers some 70,000 in a second


class Failing(Counted):
    """An array that raises an error at the third chunk."""

    error: BaseException = OSError("a broken chunk")

    def __getitem__(self, at: tuple[slice, slice]) -> Array:
        if len(self.reads) > 2:
            raise self.error
        return super().__getitem__(at)


@pytest.mark.parametrize("threads", [1, 4])
def test_a_chunk_that_cannot_be_read_is_an_error(data: Array, threads: int) -> None:
    matrix = ChunkedMatrix(Failing(data, (64, 70)), (64, 70), name="chunks", threads=threads)
    with pytest.raises(StorageError, match="chunks cannot be read: a broken chunk"):
        sureshot.top_k(matrix, np.ones(COLUMNS))


def test_an_interrupted_search_leaves_no_thread(
    data: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "BYTES_OF_PORTION", 1 << 12)
    matrix, before = by_row(data, tmp_path), threading.active_count()
    calls: list[Any] = []

    def interrupt(*_: Any) -> None:
        calls.append(None)
        if len(calls) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr("sureshot._native.add_scores", interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        sureshot.top_k(matrix, np.ones(COLUMNS), method="exact")
    assert caught.traceback  # which keeps everything alive that it went through
    assert threading.active_count() == before
