"""Matrices in files: what is read of them, and what goes wrong with files."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot import StorageError
from sureshot.storage import residency
from sureshot.storage.column_file import ColumnFileMatrix
from sureshot.storage.file import FileMatrix
from sureshot.storage.open_file import REQUESTS, FileStatus
from sureshot.storage.opening import opened

if TYPE_CHECKING:
    from sureshot._types import Array, Floats


@pytest.fixture(scope="module")
def data() -> Array:
    """Rows of which a few have large scores, and short ones besides."""
    rng = np.random.default_rng(0)
    sizes = np.exp(rng.standard_normal((300, 1)))
    rows = sizes * (rng.standard_normal((300, 4)) @ rng.standard_normal((4, 20_011)))
    return rows.astype(np.float32)


@pytest.fixture(scope="module")
def query(data: Array) -> Floats:
    """A query that some rows resemble."""
    noise = np.random.default_rng(1).standard_normal(data.shape[1])
    query: Floats = noise + data[17]
    return query


@pytest.fixture
def matrix(data: Array, tmp_path: Path) -> FileMatrix:
    """The same rows in a file."""
    (tmp_path / "rows.bin").write_bytes(bytes(100) + data.tobytes())
    return FileMatrix(tmp_path / "rows.bin", data.dtype, data.shape, offset=100)


@pytest.mark.parametrize("metric", ["ip", "abs-ip", "cosine", "sqeuclidean", "l1"])
@pytest.mark.parametrize("bounds", [None, "scan"])
@pytest.mark.parametrize("k", [1, 10])
def test_a_file_gives_the_answer_of_memory(
    data: Array, matrix: FileMatrix, query: Floats, metric: str, bounds: str | None, k: int
) -> None:
    in_memory, in_file = (
        sureshot.top_k(rows, query, k, metric=metric, bounds=bounds, rng=3, block=64)
        for rows in (data, matrix)
    )
    np.testing.assert_array_equal(in_file.indices, in_memory.indices)
    np.testing.assert_array_equal(in_file.scores, in_memory.scores)


def test_a_scan_of_a_file_is_that_of_memory(data: Array, matrix: FileMatrix) -> None:
    in_memory, in_file = sureshot.scan(data), sureshot.scan(matrix)
    for name in ("norms", "middle", "scale", "reach"):
        np.testing.assert_array_equal(getattr(in_file, name), getattr(in_memory, name))


def test_a_file_that_is_cut_off_is_refused(matrix: FileMatrix, data: Array) -> None:
    os.truncate(matrix.file.path, matrix.file.path.stat().st_size - 1)
    with pytest.raises(StorageError, match=r"rows.bin is cut off: 300 rows .* but it has"):
        FileMatrix(matrix.file.path, data.dtype, data.shape, offset=100)


def test_a_file_that_is_cut_off_during_a_search_is_an_error(
    matrix: FileMatrix, query: Floats
) -> None:
    def cut(_: object) -> None:
        os.truncate(matrix.file.path, 50_000)

    with pytest.raises(StorageError, match=r"rows.bin has changed while it was searched"):
        sureshot.top_k(matrix, query, method="exact", progress=cut)


def test_a_file_that_is_written_to_during_a_search_is_an_error(
    matrix: FileMatrix, query: Floats
) -> None:
    def write(_: object) -> None:
        with matrix.file.path.open("r+b") as file:
            file.write(b"0")

    with pytest.raises(StorageError, match=r"rows.bin has changed while it was searched"):
        sureshot.top_k(matrix, query, progress=write)


def test_a_disk_that_fails_is_an_error(matrix: FileMatrix, query: Floats) -> None:
    if not Path("/proc/self/mem").exists():
        pytest.skip("needs a file whose reading fails")
    failing = os.open("/proc/self/mem", os.O_RDONLY)  # at address 100 there is no memory
    try:
        os.dup2(failing, matrix.file.descriptor)
        matrix.file.status = FileStatus.of(os.fstat(failing))
        with pytest.raises(StorageError, match=r"rows.bin: byte \d+ could not be read: .*error"):
            sureshot.top_k(matrix, query)
    finally:
        os.close(failing)


def test_a_value_that_is_not_a_number_is_named(data: Array, tmp_path: Path) -> None:
    broken = data.copy()
    broken[41, 1234] = np.nan
    broken.tofile(tmp_path / "rows")
    stored = FileMatrix(tmp_path / "rows", broken.dtype, broken.shape)
    with pytest.raises(sureshot.BoundsError, match=r"row 41 .*nan at coordinate 1234"):
        sureshot.top_k(stored, np.ones(data.shape[1]), method="exact")


def test_a_map_is_searched_as_memory_unless_it_is_absent(
    data: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "rows.npy", data)
    maps = {mode: np.load(tmp_path / "rows.npy", mmap_mode=mode) for mode in ("r", "r+", "c")}
    monkeypatch.setattr(residency, "SMALLEST_FILE", 1)
    monkeypatch.setattr("sureshot._native.resident_share", lambda *_: 1.0)
    assert all(opened(one) is one for one in maps.values())
    monkeypatch.setattr("sureshot._native.resident_share", lambda *_: 0.5)
    # What was written to a private map is not in the file.
    assert opened(maps["c"]) is maps["c"]
    assert isinstance(opened(maps["r"][::-1]), np.memmap)
    for some in (maps["r"], maps["r+"], maps["r"][10:200, 5:], maps["r"][3:][::2], maps["r"][7:8]):
        for view, form in ((some, FileMatrix), (some.T, ColumnFileMatrix)):
            stored = opened(view)
            assert isinstance(stored, form)
            np.testing.assert_array_equal(stored[-1 + len(view)], view[-1])


def test_a_small_share_of_a_long_file_is_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    factors = (
        rng.standard_normal((200, 4), dtype=np.float32),
        rng.standard_normal((4, 400_000), dtype=np.float32),
    )
    path = tmp_path / "rows"
    (factors[0] @ factors[1]).tofile(path)
    stored = FileMatrix(path, np.dtype(np.float32), (200, 400_000))
    query = rng.standard_normal(4) @ factors[1]
    found = sureshot.top_k(stored, query, k=1, rng=0)
    best = np.argmax(factors[0] @ (factors[1] @ query))
    assert found.indices.tolist() == [best]
    assert found.work.share < 0.2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_can_search(matrix: FileMatrix, query: Floats) -> None:
    expected = sureshot.top_k(matrix, query, method="exact", threads=1)
    child = os.fork()
    if child == 0:
        found = sureshot.top_k(matrix, query, method="exact", threads=1)
        os._exit(0 if np.array_equal(found.indices, expected.indices) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_can_end(matrix: FileMatrix, query: Floats) -> None:
    sureshot.top_k(matrix, query, method="exact", threads=1)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # if it waits for threads that it does not have
        matrix.file._own = None  # destroys what reads, as the end of the matrix does
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs to count threads")
def test_many_files_share_their_threads(tmp_path: Path) -> None:
    rows = np.ones((4, 1000), np.float32)
    matrices = []
    for at in range(40):
        rows.tofile(tmp_path / str(at))
        matrices.append(FileMatrix(tmp_path / str(at), rows.dtype, rows.shape))
    assert sureshot.top_k(sureshot.vstack(matrices), np.ones(1000), 3).indices.tolist() == [0, 1, 2]
    assert len(list(Path("/proc/self/task").iterdir())) < 4 * REQUESTS


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every memory map be large and not in memory."""
    monkeypatch.setattr(residency, "SMALLEST_FILE", 1)
    monkeypatch.setattr("sureshot._native.resident_share", lambda *_: 0.0)


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize("what", ["deleted", "renamed", "replaced", "replaced by a shorter file"])
def test_the_mapped_file_is_searched_and_no_other(
    data: Array, query: Floats, tmp_path: Path, what: str
) -> None:
    np.save(tmp_path / "rows.npy", data)
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    if what == "deleted":
        (tmp_path / "rows.npy").unlink()
    else:
        (tmp_path / "rows.npy").rename(tmp_path / "other.npy")
    if what.startswith("replaced"):
        np.save(tmp_path / "rows.npy", -data if what == "replaced" else data[:7])
    found = sureshot.top_k(rows, query, k=3)
    np.testing.assert_array_equal(found.indices, sureshot.top_k(data, query, k=3).indices)


def test_a_map_whose_file_is_cut_off_is_refused(data: Array, query: Floats, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", data)
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    os.truncate(tmp_path / "rows.npy", 100_000)  # to read what follows would end the process
    with pytest.raises(StorageError, match=r"rows\.npy is cut off: its map ends at byte"):
        sureshot.top_k(rows, query)
    assert sureshot.top_k(rows[:1], query, 1).indices.tolist() == [0]


@pytest.mark.usefixtures("absent")
def test_a_file_in_fortran_order(data: Array, query: Floats, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.asfortranarray(data))
    rows = sureshot.open_matrix(tmp_path / "rows.npy")
    assert isinstance(opened(rows), ColumnFileMatrix)
    found, expected = (sureshot.top_k(one, query, k=3) for one in (rows, data))
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_a_scan_of_a_file_that_changes_is_an_error(
    matrix: FileMatrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = FileMatrix.read

    def write(self: FileMatrix, *arguments: Any) -> None:
        read(self, *arguments)
        os.utime(matrix.file.path, ns=(0, 0))

    monkeypatch.setattr(FileMatrix, "read", write)
    with pytest.raises(StorageError, match=r"rows.bin has changed"):
        sureshot.scan(matrix)


@pytest.mark.usefixtures("absent")
def test_another_byte_order_is_refused(data: Array, query: Floats, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", data.astype(">f4"))
    with pytest.raises(TypeError, match="this machine's byte order, got '>f4'"):
        sureshot.top_k(sureshot.open_matrix(tmp_path / "rows.npy"), query)
