"""Matrices in every format: opened, searched, and refused where they are broken."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import sureshot
from sureshot import StorageError, open_matrix
from sureshot.storage.base import Stored
from sureshot.storage.chunked import ChunkedMatrix
from sureshot.storage.file import FileMatrix
from sureshot.storage.opening import opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sureshot._types import Array


@pytest.fixture(scope="module")
def data() -> Array:
    """Rows that are searched in every format."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((50, 4), dtype=np.float32) @ rng.standard_normal(
        (4, 700), dtype=np.float32
    )


def as_npy(data: Array, folder: Path) -> Path:
    np.save(folder / "rows.npy", data)
    return folder / "rows.npy"


def as_safetensors(data: Array, folder: Path, odd: int = 0) -> Path:
    """Write by the rules of the format; `odd` bytes of another tensor come first."""
    header = {
        "__metadata__": {"made by": "a test"},
        "other": {"dtype": "U8", "shape": [odd], "data_offsets": [0, odd]},
        "rows": {"dtype": "F32", "shape": data.shape, "data_offsets": [odd, odd + data.nbytes]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = folder / "rows.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(odd) + data.tobytes())
    return path


def as_hdf5(data: Array, folder: Path, chunks: Any = None, **how: Any) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "rows.h5", "w") as file:
        file.create_dataset("some/rows", data=data, chunks=chunks, **how)
        file.create_dataset("vector", data=data[0])
    return folder / "rows.h5"


def as_zarr(data: Array, folder: Path, **how: Any) -> Path:
    zarr = pytest.importorskip("zarr")
    zarr.create_array(folder / "rows.zarr", data=data, **how)
    return folder / "rows.zarr"


def as_arrow(data: Array, folder: Path, at_once: int = 1000, **how: Any) -> Path:
    pa = pytest.importorskip("pyarrow")
    rows = pa.FixedSizeListArray.from_arrays(pa.array(data.ravel()), data.shape[1])
    table = pa.table({"id": np.arange(len(data)), "rows": rows})
    path = folder / "rows.arrow"
    options = pa.ipc.IpcWriteOptions(**how)
    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, table.schema, options=options) as writer,
    ):
        writer.write_table(table, max_chunksize=at_once)
    return path


WRITERS: dict[str, Callable[[Array, Path], Path]] = {
    "npy": as_npy,
    "safetensors": as_safetensors,
    "safetensors not aligned": lambda data, folder: as_safetensors(data, folder, odd=3),
    "hdf5": as_hdf5,
    "hdf5 in chunks": lambda data, folder: as_hdf5(data, folder, (7, 100), compression="gzip"),
    "zarr": lambda data, folder: as_zarr(data, folder, chunks=(11, 64)),
    "zarr in shards": lambda data, folder: as_zarr(data, folder, chunks=(10, 70), shards=(50, 700)),
    "arrow": as_arrow,
    "arrow in batches": lambda data, folder: as_arrow(data, folder, at_once=13),
}


SUFFIXES = {form: f".{form.split()[0].replace('hdf5', 'h5')}" for form in WRITERS}


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("metric", ["ip", "sqeuclidean"])
def test_every_format_gives_the_same_answer(
    data: Array, form: str, metric: str, tmp_path: Path
) -> None:
    matrix = open_matrix(WRITERS[form](data, tmp_path))
    query = np.random.default_rng(1).standard_normal(data.shape[1])
    assert matrix.shape == data.shape
    assert matrix.dtype == data.dtype
    expected = sureshot.top_k(data, query, k=5, metric=metric, method="exact")
    for method in ("exact", "betting"):
        found = sureshot.top_k(matrix, query, k=5, metric=metric, method=method, rng=0, block=70)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.scores, expected.scores)
    scanned, in_memory = sureshot.scan(matrix), sureshot.scan(data)
    np.testing.assert_array_equal(np.asarray(scanned.norms), np.asarray(in_memory.norms))


@pytest.mark.parametrize("form", WRITERS)
def test_pieces_are_read_as_they_are(data: Array, form: str, tmp_path: Path) -> None:
    matrix = open_matrix(WRITERS[form](data, tmp_path))
    rows, starts = np.array([48, 3, 4, 30]), np.array([600, 0, 33])
    if isinstance(matrix, np.memmap) and matrix.filename is not None:
        matrix = FileMatrix(matrix.filename, matrix.dtype, matrix.shape, offset=matrix.offset)
    assert isinstance(matrix, Stored)
    out = np.empty((4, 3, 65), data.dtype)
    matrix.read(rows, starts, 65, out)
    for at, start in enumerate(starts):
        np.testing.assert_array_equal(out[:, at], data[rows, start : start + 65])


def test_chunks_are_the_blocks(data: Array, tmp_path: Path) -> None:
    matrix = open_matrix(as_zarr(data, tmp_path, chunks=(10, 70), shards=(50, 700)))
    assert isinstance(matrix, ChunkedMatrix)
    assert (matrix.access.unit_rows, matrix.access.unit_columns) == (10, 70)


@pytest.mark.usefixtures("costs_decide")
@pytest.mark.parametrize(
    ("request_cost", "width", "better"),
    [
        (5e4, 1_000_000, "; stored as chunks of 1 × 3,906 numbers they could be raced"),
        (5e5, 1_000_000, "; stored as a file without chunks they could be raced"),
        (5e5, 1_000, ""),  # rows too short for any layout
    ],
)
def test_a_better_layout_is_named(
    request_cost: float, width: int, better: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sureshot.storage.chunked.REQUEST", request_cost)
    rows = np.broadcast_to(np.float32(1), (50, width))
    matrix = ChunkedMatrix(rows, (100, 1_000), name="rows", threads=8)
    found = sureshot.top_k(matrix, np.ones(width), k=1)
    why = "every arm evaluated: to evaluate every arm costs less than the rounds of a race"
    assert found.work.choice == why + better


def test_objects_of_libraries_are_taken(data: Array, tmp_path: Path) -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    pa = pytest.importorskip("pyarrow")
    query = np.arange(700.0)
    expected = sureshot.top_k(data, query, k=3).indices
    with h5py.File(as_hdf5(data, tmp_path, (10, 70))) as file:
        np.testing.assert_array_equal(
            sureshot.top_k(file["some/rows"], query, k=3).indices, expected
        )
    stored = zarr.open(as_zarr(data, tmp_path, chunks=(10, 70)))
    np.testing.assert_array_equal(sureshot.top_k(stored, query, k=3).indices, expected)
    column = pa.FixedSizeListArray.from_arrays(pa.array(data.ravel()), 700)
    assert np.shares_memory(opened(column), column.flatten().to_numpy())
    np.testing.assert_array_equal(sureshot.top_k(column, query, k=3).indices, expected)


def test_tensors_share_their_memory(data: Array) -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    query = np.arange(700.0)
    tensor = torch.from_numpy(data).requires_grad_()
    assert np.shares_memory(opened(tensor), data)
    with pytest.raises(ValueError, match=r"negates when it is read: pass tensor.resolve_neg\(\)"):
        sureshot.top_k(torch._neg_view(tensor.detach()), query)
    half = torch.from_numpy(data).to(torch.bfloat16)
    expected = sureshot.top_k(data.astype(ml_dtypes.bfloat16), query, k=3)
    np.testing.assert_array_equal(sureshot.top_k(half, query, k=3).scores, expected.scores)


def test_bfloat16_of_safetensors(data: Array, tmp_path: Path) -> None:
    half = data.astype(ml_dtypes.bfloat16)
    path = as_safetensors(half, tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"BF16"', 1))
    text = path.read_bytes()
    length = int.from_bytes(text[:8], "little") + 1
    path.write_bytes(length.to_bytes(8, "little") + text[8:])
    matrix = open_matrix(path)
    assert matrix.dtype == half.dtype
    np.testing.assert_array_equal(matrix[7], half[7])


@pytest.mark.parametrize("form", WRITERS)
def test_a_file_that_is_cut_off_is_refused(data: Array, form: str, tmp_path: Path) -> None:
    path = WRITERS[form](data, tmp_path)
    if path.is_dir():
        path = next(
            file for file in sorted(path.rglob("*")) if file.is_file() and "c" in file.parts
        )
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(size // 2)
    with pytest.raises((StorageError, ValueError)) as caught:
        sureshot.top_k(open_matrix(tmp_path / f"rows{SUFFIXES[form]}"), np.ones(700))
    assert "rows" in str(caught.value)


def test_chunks_that_are_written_during_a_search_are_an_error(data: Array, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    path = as_zarr(data, tmp_path, chunks=(10, 70))

    def write(_: object) -> None:
        zarr.open(path, mode="r+")[3, 100:200] = 1.0

    with pytest.raises(StorageError, match=r"rows.zarr has changed while it was searched"):
        sureshot.top_k(open_matrix(path), np.ones(data.shape[1]), method="exact", progress=write)


@pytest.mark.parametrize("form", ["safetensors", "hdf5", "zarr", "arrow"])
def test_a_file_of_something_else_is_refused(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{SUFFIXES[form]}"
    path.write_bytes(b"not at all what it should be")
    with pytest.raises(StorageError, match=r"x\.\w+ "):
        open_matrix(path)


ROWS = {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}


@pytest.mark.parametrize(
    "header",
    [
        {"rows": ROWS | {"shape": [-3, -2]}},
        {
            "rows": ROWS | {"data_offsets": [-8, 16]}
        },  # a part of the header would be read as numbers
        {"rows": ROWS | {"data_offsets": [24, 0]}},
        {"rows": ROWS | {"shape": [3.0, 2]}},
        {"rows": ROWS | {"data_offsets": [0.0, 24]}},
        {"rows": ROWS | {"shape": [True, 2], "data_offsets": [0, 8]}},
        {"rows": ROWS | {"shape": "32"}},
        {"rows": ROWS | {"shape": 6}},
        {"rows": ROWS | {"dtype": ["F32"]}},
        {"rows": ROWS | {"shape": [2**62, 2], "data_offsets": [0, 2**65]}},
        [ROWS],
        {"rows": [ROWS]},
    ],
)
def test_a_wrong_header_of_safetensors_is_refused(header: Any, tmp_path: Path) -> None:
    text, path = json.dumps(header).encode(), tmp_path / "rows.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(24))
    with pytest.raises(StorageError, match=r"rows\.safetensors is"):
        open_matrix(path)


def test_a_header_of_many_brackets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.safetensors"
    path.write_bytes((10**5).to_bytes(8, "little") + b"[" * 10**5)
    with pytest.raises(StorageError, match="not a safetensors file"):
        open_matrix(path)


def test_a_length_that_no_file_has_is_refused(data: Array, tmp_path: Path) -> None:
    path = as_npy(data, tmp_path)
    content = path.read_bytes()
    # numpy multiplies the sizes, and then maps that many bytes.
    path.write_bytes(content.replace(b"(50, 700)", b"(-9, 700)"))
    with pytest.raises(StorageError, match="cannot use"):
        open_matrix(path)


@pytest.mark.parametrize("mark", [b"TREE", b"HEAP", b"SNOD"])
def test_a_damaged_table_of_hdf5_is_refused(mark: bytes, data: Array, tmp_path: Path) -> None:
    path = as_hdf5(data, tmp_path)
    path.write_bytes(path.read_bytes().replace(mark, b"XXXX"))
    with pytest.raises(StorageError, match="cannot be opened as HDF5"):
        open_matrix(path)


def test_a_length_of_arrow_that_its_numbers_do_not_have_is_refused(
    data: Array, tmp_path: Path
) -> None:
    path = as_arrow(data, tmp_path)
    rows, more = (count.to_bytes(8, "little") for count in (len(data), 10**6))
    assert path.read_bytes().count(rows) > 1
    path.write_bytes(path.read_bytes().replace(rows, more))
    with pytest.raises(StorageError, match=r"rows\.arrow"):
        open_matrix(path)


def test_names(data: Array, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = as_hdf5(data, tmp_path)
    assert open_matrix(path, "some/rows").shape == open_matrix(path, "/some/rows").shape
    with pytest.raises(
        ValueError, match=r"a dataset with 2 dimensions named 'vector', got 'some/rows'"
    ):
        open_matrix(path, "vector")
    with h5py.File(path, "a") as file:
        file.create_dataset("more", data=data)
    with pytest.raises(
        ValueError, match=r"several: say which by name=, one of 'more', 'some/rows'"
    ):
        open_matrix(path)
    with pytest.raises(ValueError, match="one array without a name"):
        open_matrix(as_npy(data, tmp_path), "x")


def test_bad_paths(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: .*x\.npy"):
        open_matrix(tmp_path / "x.npy")
    (tmp_path / "x.csv").write_text("1,2,3")
    with pytest.raises(StorageError, match=r"x\.csv is not a \.npy file"):
        open_matrix(tmp_path / "x.csv")
    with pytest.raises(IsADirectoryError):
        open_matrix(tmp_path)


def test_a_compressed_arrow_file_is_refused(data: Array, tmp_path: Path) -> None:
    path = as_arrow(data, tmp_path, compression="lz4")
    with pytest.raises(StorageError, match="is compressed"):
        open_matrix(path)


def test_a_missing_library_is_named(
    data: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = as_zarr(data, tmp_path, chunks=(10, 70))
    monkeypatch.setitem(__import__("sys").modules, "zarr", None)
    with pytest.raises(ImportError, match=r"needs zarr: pip install 'sureshot\[files\]'"):
        open_matrix(path)


def test_datasets_that_are_written_to(data: Array, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    query = np.arange(700.0)
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        rows = file.create_dataset("rows", data=data)
        sureshot.top_k(rows, query)
        rows[7] = 1000 * np.sign(query)  # which h5py need not write at once
        assert sureshot.top_k(rows, query, 1).indices.tolist() == [7]
        external = [(str(tmp_path / "external"), 0, h5py.h5f.UNLIMITED)]
        outside = file.create_dataset("outside", data=data, external=external)
        expected = sureshot.top_k(data, query, 3)
        np.testing.assert_array_equal(sureshot.top_k(outside, query, 3).scores, expected.scores)
        matrix = opened(outside)
        assert isinstance(matrix, ChunkedMatrix)
        assert matrix.access.unit_rows == 1
    with pytest.raises(ValueError, match="one whose file is closed"):
        sureshot.top_k(rows, query)


def test_a_file_in_memory_is_not_the_file_of_its_name(data: Array, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    as_hdf5(-data, tmp_path)
    with h5py.File(tmp_path / "rows.h5", "a", driver="core", backing_store=False) as file:
        file["some/rows"][...] = data
        found = sureshot.top_k(file["some/rows"], np.arange(700.0), 3)
    np.testing.assert_array_equal(found.scores, sureshot.top_k(data, np.arange(700.0), 3).scores)


@pytest.mark.parametrize("version", [2, 3])
def test_arrays_in_groups_of_zarr(data: Array, tmp_path: Path, version: Any) -> None:
    zarr = pytest.importorskip("zarr")
    path, query = tmp_path / "rows.zarr", np.arange(700.0)
    root = zarr.open_group(path, mode="w", zarr_format=version)
    array = root.create_group("some").create_array(
        "rows", shape=data.shape, dtype="f4", chunks=(11, 64)
    )
    array[:30] = data[:30]  # the others are what the format says of chunks that are not there
    expected = sureshot.top_k(np.vstack([data[:30], np.zeros_like(data[30:])]), query, 3)
    for matrix in (open_matrix(path), open_matrix(path, "/some/rows")):
        np.testing.assert_array_equal(sureshot.top_k(matrix, query, 3).scores, expected.scores)
    big = root.create_array("big", shape=data.shape, dtype=">f4", chunks=(11, 64))
    with pytest.raises(TypeError, match="this machine's byte order, got '>f4'"):
        sureshot.top_k(big, query)


def test_columns_that_are_no_matrices_are_refused(data: Array) -> None:
    pa = pytest.importorskip("pyarrow")
    lists = pa.list_(pa.float32(), 700)
    for column, words in (
        (pa.table({"a": [1]}), "a column of lists of one length, got Table"),
        (pa.array([[1.0]]), "a column of lists of one length, got list<"),
        (pa.array([[True]], pa.list_(pa.bool_(), 1)), "whole bytes, got a column of bool"),
        (pa.array([["a"]], pa.list_(pa.string(), 1)), "whole bytes, got a column of string"),
    ):
        with pytest.raises(TypeError, match=words):
            sureshot.top_k(column, data[0])
    for column in (pa.array([], lists), pa.chunked_array([], lists)):
        with pytest.raises(ValueError, match="got a column without rows"):
            sureshot.top_k(column, data[0])


def test_many_batches_that_are_not_in_memory_are_one_file(
    data: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = as_arrow(data, tmp_path, at_once=13)
    in_memory = open_matrix(path)
    monkeypatch.setattr("sureshot.storage.residency.SMALLEST_FILE", 1)
    monkeypatch.setattr("sureshot._native.resident_share", lambda *_: 0.0)
    matrix = open_matrix(path)
    assert isinstance(matrix, FileMatrix)
    # A scan of one is a scan of the other.
    assert isinstance(in_memory, Stored)
    assert matrix.files() == in_memory.files()
    for row in (0, 12, 13, 49):
        np.testing.assert_array_equal(matrix[row], data[row])
    query = np.arange(700.0)
    expected, found = (sureshot.top_k(rows, query, 4) for rows in (data, matrix))
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_a_chunk_without_room_for_its_checksum_is_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="this test needs the extra [files]")
    path = tmp_path / "rows.h5"
    with h5py.File(path, "w") as file:
        rows = file.create_dataset("rows", (8, 24), "float32", chunks=(4, 8), fletcher32=True)
        rows[:] = np.arange(8 * 24, dtype=np.float32).reshape(8, 24)
    key = struct.pack("<IIQQQ", 4 * 8 * 4 + 4, 0, 4, 16, 0)  # bytes, filters, and where it belongs
    written = path.read_bytes()
    assert written.count(key) == 1
    for size in (0, 3):
        path.write_bytes(written.replace(key, struct.pack("<I", size) + key[4:]))
        with pytest.raises(StorageError, match=f"one of its chunks has {size} bytes"):
            open_matrix(path)
