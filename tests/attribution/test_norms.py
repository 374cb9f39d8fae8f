"""Norms are computed once, kept beside the store, and refused when the data has changed since."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot.attribution import StoreError, norms, open_store
from tests.attribution.stores import BFLOAT16, MODULES, gradients, write_bergson, write_dattri

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array, Floats

ROWS = 23


@pytest.fixture
def rows() -> Array:
    return gradients(ROWS, dtype=BFLOAT16)


@pytest.fixture
def folder(tmp_path: Path, rows: Array) -> Path:
    return write_bergson(tmp_path / "run", rows)


def assert_norms(found: Floats | None, rows: Array) -> None:
    assert found is not None
    expected = np.linalg.norm(rows.astype(np.float64), axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_norms_are_those_of_the_rows(folder: Path, rows: Array) -> None:
    store = open_store(folder)
    assert store.norms() is None
    values = rows.astype(np.float64)
    assert_norms(store.compute_norms(), values)
    assert_norms(store.norms("head"), values[:, 720:])
    both = np.delete(values, slice(700, 720), axis=1)
    assert_norms(store.norms(["conv.weight", "head"]), both)


def refuse(*_: int) -> None:
    pytest.fail("the norms are there already")


def test_norms_are_computed_once_with_progress(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(norms, "BYTES_AT_ONCE", 10 * 1200 * 2)
    calls: list[tuple[int, int]] = []
    store = open_store(folder)
    found = store.compute_norms(progress=lambda *done: calls.append(done))
    assert calls == [(10, ROWS), (20, ROWS), (23, ROWS)]
    again = open_store(folder)
    np.testing.assert_array_equal(again.compute_norms(progress=refuse), found)
    again.top_k(np.ones(1200), 2, unit_norm=True, progress=refuse)
    again.compute_norms(progress=lambda *done: calls.append(done), again=True)
    assert len(calls) == 6
    assert sorted(path.name for path in folder.iterdir()) == [
        "gradients.bin",
        "info.json",
        "norms.json",
        "norms.npy",
    ]


def test_norms_of_several_files(tmp_path: Path, rows: Array) -> None:
    folder = write_dattri(tmp_path / "cache", rows)
    found = open_store(folder).compute_norms()
    assert_norms(found, rows)
    assert_norms(open_store(folder).norms(), rows)


def test_norms_beside_a_file_and_elsewhere(tmp_path: Path, rows: Array) -> None:
    file = tmp_path / "rows.npy"
    np.save(file, rows)
    open_store(file).compute_norms()
    assert (tmp_path / "rows.npy.norms.npy").exists()
    other = tmp_path / "other"
    other.mkdir()
    store = open_store(file, norms=other / "mine")
    assert store.norms() is None
    store.compute_norms()
    assert sorted(path.name for path in other.iterdir()) == ["mine.norms.json", "mine.norms.npy"]


def test_norms_of_data_that_has_changed_are_refused(folder: Path, rows: Array) -> None:
    open_store(folder).compute_norms()
    data = folder / "gradients.bin"
    state = data.stat()
    data.write_bytes((2 * rows).tobytes())
    os.utime(data, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    store = open_store(folder)
    with pytest.raises(StoreError, match=r"norms of other data .*\(time of change changed\)"):
        store.top_k(np.ones(1200), 2)
    os.utime(data, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(StoreError, match=r"row 0 has changed"):
        store.top_k(np.ones(1200), 2)
    store.compute_norms(again=True)
    assert_norms(store.norms(), 2 * rows)


def test_a_row_that_changed_in_a_later_file_is_found(tmp_path: Path, rows: Array) -> None:
    folder = write_dattri(tmp_path / "cache", rows)
    open_store(folder).compute_norms()
    data = folder / "grad" / "chunk_gradients_3_5.mmap"
    state = data.stat()
    changed = rows[12:].copy()
    changed[-1] *= 2
    data.write_bytes(changed.tobytes())
    os.utime(data, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(StoreError, match="row 22 has changed"):
        open_store(folder).norms()


def test_norms_of_another_store_are_refused(tmp_path: Path, rows: Array) -> None:
    folder = write_bergson(tmp_path / "run", rows)
    open_store(folder).compute_norms()
    write_bergson(folder, rows[:-1])
    with pytest.raises(StoreError, match="rows, bytes, time of change changed"):
        open_store(folder).norms()
    write_bergson(folder, rows, modules={"x": 1000, "y": 200})
    with pytest.raises(StoreError, match="modules"):
        open_store(folder).norms()


def test_an_interruption_leaves_no_norms(folder: Path) -> None:
    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_store(folder).compute_norms(progress=stop)
    assert sorted(path.name for path in folder.iterdir()) == ["gradients.bin", "info.json"]


def test_a_folder_that_is_not_to_be_written_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(
        PermissionError, match=r"name another place .* open_store\(..., norms=...\)"
    ):
        open_store(folder).compute_norms(progress=refuse)


def test_a_value_that_is_not_finite_is_named(tmp_path: Path) -> None:
    rows = gradients(ROWS)
    rows[17, 710] = np.inf
    store = open_store(write_bergson(tmp_path / "run", rows))
    with pytest.raises(
        StoreError, match=r"row 17 holds values in module 'conv.bias' that are not finite"
    ):
        store.compute_norms()


def test_names_of_modules_are_kept_with_their_widths(folder: Path) -> None:
    open_store(folder).compute_norms()
    assert open_store(folder).modules.widths == MODULES
