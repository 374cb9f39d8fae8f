"""Scans: how far they are, how they go on, and which data their bounds are refused for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot import Bounds, BoundsError, ScanInfo, StorageError
from sureshot.prepare import whole_scan
from sureshot.storage import fingerprint, residency
from sureshot.storage.file import FileMatrix
from sureshot.storage.fingerprint import sample_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sureshot._types import Array

SHAPE = (500, 1001)
QUERY = np.ones(SHAPE[1])
FOUND = ("norms", "middle", "scale", "reach")


@pytest.fixture(scope="module")
def data() -> Array:
    """Rows of many sizes."""
    rng = np.random.default_rng(0)
    rows = np.exp(rng.standard_normal((SHAPE[0], 1))) * rng.standard_normal(SHAPE)
    return rows.astype(np.float32)


@pytest.fixture
def path(data: Array, tmp_path: Path) -> Path:
    """A file of these rows."""
    np.save(tmp_path / "rows.npy", data)
    return tmp_path / "rows.npy"


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan seven rows at a time, and save after each piece."""
    monkeypatch.setattr(whole_scan, "BYTES_OF_PIECE", 7 * SHAPE[1] * 4)
    monkeypatch.setattr(whole_scan, "BYTES_OF_COLUMN", 1)
    monkeypatch.setattr(whole_scan, "SECONDS_BETWEEN_SAVES", 0)
    monkeypatch.setattr(whole_scan, "SHARE_OF_SAVES", 1e9)


def assert_same(found: Bounds, expected: Bounds) -> None:
    for name in FOUND:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def mapped(path: Path) -> Array:
    rows: Array = np.load(path, mmap_mode="r")
    return rows


def in_file(path: Path) -> FileMatrix:
    rows = mapped(path)
    return FileMatrix(path, rows.dtype, SHAPE, offset=path.stat().st_size - rows.nbytes)


def stopping_at(rows: int, seen: list[int]) -> Callable[[ScanInfo], None]:
    """Return a progress function that stops a scan as Ctrl-C does."""

    def progress(info: ScanInfo) -> None:
        seen.append(info.rows)
        if info.rows >= rows:
            raise KeyboardInterrupt

    return progress


def set_time(path: Path, modified: int) -> None:
    os.utime(path, ns=(modified, modified))


@pytest.mark.parametrize(
    "arrange",
    [
        lambda data, path: data,
        lambda data, path: np.asfortranarray(data),
        lambda data, path: mapped(path),
        lambda data, path: in_file(path),
        lambda data, path: sureshot.vstack([data[:123], mapped(path)[123:]]),
        lambda data, path: sureshot.hstack([mapped(path)[:, :400], data[:, 400:]]),
    ],
    ids=["memory", "columns", "map", "file", "rows", "sides"],
)
def test_progress_changes_nothing_and_counts(
    data: Array, path: Path, arrange: Callable[[Array, Path], Any]
) -> None:
    rows, seen = arrange(data, path), list[ScanInfo]()
    found = sureshot.scan(rows, progress=seen.append)
    assert_same(found, sureshot.scan(data))
    assert [info.rows for info in seen] == [*range(7, 500, 7), 500]
    assert {info.all_rows for info in seen} == {500}
    sampled = 16 * 8  # rows, which are read twice
    assert [info.numbers_read for info in seen] == [(info.rows + sampled) * 1001 for info in seen]


@pytest.mark.parametrize("opened", [mapped, in_file])
def test_a_scan_goes_on_where_it_was_stopped(
    data: Array, path: Path, opened: Callable[[Path], Any]
) -> None:
    first, second = list[int](), list[ScanInfo]()
    kept = path.with_name("rows.bounds.npz.partial")
    with pytest.raises(KeyboardInterrupt):
        sureshot.scan(opened(path), save=True, progress=stopping_at(100, first))
    assert first[-1] == 105
    assert kept.exists()
    found = sureshot.scan(opened(path), save=True, progress=second.append)
    assert second[0] == ScanInfo(112, 500, 7 * 1001)
    assert second[-1] == ScanInfo(500, 500, 395 * 1001)
    assert_same(found, sureshot.scan(data))
    assert_same(Bounds.load(path.with_name("rows.bounds.npz")), found)
    assert sorted(file.name for file in path.parent.iterdir()) == ["rows.bounds.npz", "rows.npy"]


KILLED = """
import os, signal, sys, numpy, sureshot
from sureshot.prepare import whole_scan
whole_scan.BYTES_OF_PIECE, whole_scan.SECONDS_BETWEEN_SAVES = 40_000, 0
whole_scan.SHARE_OF_SAVES = 1e9
def progress(info):
    if info.rows > 200:
        os.kill(os.getpid(), signal.SIGKILL)
sureshot.scan(numpy.load(sys.argv[1], mmap_mode="r"), save=sys.argv[2], progress=progress)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that kills")
def test_a_scan_that_was_killed_goes_on(data: Array, path: Path) -> None:
    out, seen = path.with_name("out.npz"), list[ScanInfo]()
    killed = subprocess.run([sys.executable, "-c", KILLED, path, out], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists()
    # What is left of a process that was killed while it was writing.
    path.with_name("out.npz.partial.12345").write_bytes(b"PK")
    found = sureshot.scan(mapped(path), save=out, progress=seen.append)
    assert seen[0].rows > 200
    assert_same(found, sureshot.scan(data))
    assert sorted(file.name for file in path.parent.iterdir()) == ["out.npz", "rows.npy"]


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("change", ["numbers", "time", "unfinished file", "view"])
def test_a_scan_of_other_data_begins_anew(data: Array, path: Path, change: str) -> None:
    out, rows = path.with_name("out.npz"), mapped(path)
    with pytest.raises(KeyboardInterrupt):
        sureshot.scan(rows, save=out, progress=stopping_at(100, []))
    modified, expected = path.stat().st_mtime_ns, data
    if change == "numbers":
        expected = 2 * data
        np.save(path, expected)
        set_time(path, modified)
    elif change == "time":
        set_time(path, modified + 10**6)
    elif change == "unfinished file":
        cut_in_half(path.with_name("out.npz.partial"))
    else:
        rows, expected = rows[::-1], data[::-1]
    seen = list[ScanInfo]()
    found = sureshot.scan(rows, save=out, progress=seen.append)
    assert seen[0].rows == 7
    assert_same(found, sureshot.scan(expected))


def test_an_array_in_memory_is_saved_and_has_no_fingerprint(data: Array, tmp_path: Path) -> None:
    out = tmp_path / "out.npz"
    with pytest.raises(KeyboardInterrupt):
        sureshot.scan(data, save=out, progress=stopping_at(100, []))
    assert list(tmp_path.iterdir()) == []
    found = sureshot.scan(data, save=out)
    assert found.fingerprint is None
    assert Bounds.load(out).fingerprint is None
    assert_same(Bounds.load(out), found)


def test_bounds_of_a_file_that_has_changed_are_refused(data: Array, path: Path) -> None:
    out, modified = path.with_name("out.npz"), path.stat().st_mtime_ns
    sureshot.scan(mapped(path), save=out)
    known = Bounds.load(out)
    expected = sureshot.top_k(data, QUERY, bounds=sureshot.scan(data), rng=0)
    for rows in (
        mapped(path),
        np.asarray(mapped(path)),
        in_file(path),
        sureshot.vstack([in_file(path)]),
    ):
        found = sureshot.top_k(rows, QUERY, bounds=known, rng=0)
        np.testing.assert_array_equal(found.indices, expected.indices)
    moved = path.rename(path.with_name("moved.npy"))
    assert sureshot.top_k(mapped(moved), QUERY, bounds=known).indices[0] == expected.indices[0]
    # Its numbers in memory are another matter, and so are other rows of the same file.
    assert sureshot.top_k(data, QUERY, bounds=known).indices[0] == expected.indices[0]
    with pytest.raises(
        BoundsError, match=r"moved.npy has changed .*: its numbers were those at byte"
    ):
        sureshot.top_k(mapped(moved)[::-1], QUERY, bounds=known)

    set_time(moved, modified + 10**9)
    for rows in (mapped(moved), in_file(moved)):
        with pytest.raises(
            BoundsError, match=r"since it was scanned at 2.* UTC: it was written at"
        ):
            sureshot.top_k(rows, QUERY, bounds=known)
    other = data.copy()
    other[0, 0] += 1
    np.save(moved, other)
    set_time(moved, modified)
    with pytest.raises(BoundsError, match=r"some of its numbers are others; scan it again"):
        sureshot.top_k(mapped(moved), QUERY, bounds=Bounds.load(out))
    with moved.open("ab") as file:
        file.write(b"more")
    with pytest.raises(BoundsError, match=r"it had 2,002,128 bytes, now 2,002,132"):
        sureshot.top_k(mapped(moved), QUERY, bounds=known)


def test_a_file_that_changes_during_the_search_is_refused(path: Path) -> None:
    rows = mapped(path)
    known = sureshot.scan(rows)

    def touch(_: object) -> None:
        set_time(path, 1)

    with pytest.raises(BoundsError, match=r"rows.npy has changed since it was scanned"):
        sureshot.top_k(rows, QUERY, bounds=known, progress=touch)


@pytest.mark.parametrize("opened", [mapped, in_file])
def test_a_file_that_changes_during_the_scan_is_an_error(
    path: Path, opened: Callable[[Path], Any]
) -> None:
    def touch(_: object) -> None:
        set_time(path, 1)

    with pytest.raises(StorageError, match=r"rows.npy has changed while it was"):
        sureshot.scan(opened(path), save=True, progress=touch)
    assert not path.with_name("rows.bounds.npz").exists()


def test_a_file_that_is_cut_off_during_the_scan_is_an_error(path: Path) -> None:
    def cut(_: object) -> None:
        os.truncate(path, 50_000)

    with pytest.raises(StorageError, match=r"rows.npy has changed while it was"):
        sureshot.scan(in_file(path), save=True, progress=cut)


@pytest.mark.parametrize("name", ["rows.zarr", "rows.h5"])
def test_chunks_have_fingerprints(data: Array, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "rows.zarr":
        zarr = pytest.importorskip("zarr")
        zarr.create_array(path, data=data, chunks=(100, 500))
    else:
        with pytest.importorskip("h5py").File(path, "w") as file:
            file.create_dataset("rows", data=data, chunks=(100, 500))
    rows, seen = sureshot.open_matrix(path), list[int]()
    with pytest.raises(KeyboardInterrupt):
        sureshot.scan(rows, save=True, progress=stopping_at(100, seen))
    found = sureshot.scan(rows, save=True, progress=lambda info: seen.append(info.rows))
    assert seen == [100, 200, 300, 400, 500]
    assert_same(found, sureshot.scan(data))
    known = Bounds.load(tmp_path / f"{name}.bounds.npz")
    sureshot.top_k(rows, QUERY, bounds=known)
    written = max(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else path
    set_time(written, written.stat().st_mtime_ns + 10**9)
    with pytest.raises(BoundsError, match=rf"{name} has changed since it was scanned"):
        sureshot.top_k(sureshot.open_matrix(path), QUERY, bounds=known)


def test_partitions_are_read_once(data: Array) -> None:
    array = pytest.importorskip("dask.array")
    seen = list[int]()
    rows = array.from_array(data, chunks=(60, 500))
    found = sureshot.scan(rows, progress=lambda info: seen.append(info.rows))
    assert seen == [60, 120, 180, 240, 300, 360, 420, 480, 500]
    assert found.fingerprint is None
    assert_same(found, sureshot.scan(rows))


def test_where_a_scan_is_saved(data: Array, path: Path) -> None:
    rows = mapped(path)
    with pytest.raises(ValueError, match=r"save=True needs data in one file, got data in no known"):
        sureshot.scan(data, save=True)
    with pytest.raises(ValueError, match=r"save must not be the data itself"):
        sureshot.scan(rows, save=path)
    with pytest.raises(TypeError, match=r"save must be None, True or a path, got int"):
        sureshot.scan(rows, save=7)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        sureshot.scan(rows, save=path.parent / "absent" / "out.npz")
    with pytest.raises(IsADirectoryError):
        sureshot.scan(rows, save=path.parent)
    with pytest.raises(TypeError, match=r"progress must be a function of one ScanInfo, got int"):
        sureshot.scan(rows, progress=1)  # type: ignore[arg-type]
    np.testing.assert_array_equal(np.load(path), data)


def test_the_sample_is_that_of_the_numbers(
    data: Array, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = sample_of(data)
    assert sample_of(np.asfortranarray(data)) == sample_of(mapped(path)) == expected
    assert sample_of(in_file(path)) == expected
    known, taken = sureshot.scan(mapped(path)), list[Any]()

    def counted(data: Array) -> str:
        taken.append(data)
        return sample_of(data)

    monkeypatch.setattr(fingerprint, "sample_of", counted)
    for _ in range(3):
        sureshot.top_k(mapped(path), QUERY, bounds=known)
    assert len(taken) == 1
    assert sample_of(data.view(np.int32)) != expected
    assert residency.file_of(np.load(path, mmap_mode="c")) is None
    assert residency.file_of(data) is None
    monkeypatch.setattr(fingerprint, "PIECES", 16)
    assert sample_of(data) != expected
