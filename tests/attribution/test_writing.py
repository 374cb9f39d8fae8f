"""Stores that the library writes itself, and goes on writing after an interruption."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.attribution import StoreError, StoreWriter, open_store, writing
from tests.attribution.stores import MODULES, gradients

if TYPE_CHECKING:
    from pathlib import Path


def begun(path: Path, **changes: Any) -> StoreWriter:
    options: dict[str, Any] = {
        "rows": 10,
        "modules": MODULES,
        "dtype": "bfloat16",
        "about": "a model",
    }
    return StoreWriter(path, **(options | changes))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_what_is_written_is_read(tmp_path: Path, dtype: str) -> None:
    rows = gradients(10)
    with begun(tmp_path / "store", dtype=dtype) as writer:
        writer.append(rows[:3])
        writer.append(np.asfortranarray(rows[3:]))
    store = open_store(tmp_path / "store")
    assert store.modules.widths == MODULES
    assert np.concatenate(store.parts).tobytes() == rows.astype(np.dtype(dtype)).tobytes()
    files = sorted(path.name for path in (tmp_path / "store").iterdir())
    assert files == ["gradients.bin", "info.json"]


@pytest.mark.parametrize("note_every", [0.0, 1e9])
def test_writing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, note_every: float
) -> None:
    monkeypatch.setattr(writing, "NOTE_EVERY", note_every)
    rows = gradients(10)
    with pytest.raises(StoreError, match="has 4 of 10 rows"), begun(tmp_path / "store") as writer:
        writer.append(rows[:4])
    with pytest.raises(StoreError, match=r"store.part is still being written"):
        open_store(tmp_path / "store")
    # A crash may have written more than was noted.
    with (tmp_path / "store.part" / "gradients.bin").open("ab") as file:
        file.write(b"half a row")
    with begun(tmp_path / "store") as writer:
        assert writer.written == 4
        writer.append(rows[4:])
    found = np.concatenate(open_store(tmp_path / "store").parts)
    assert found.tobytes() == rows.astype(np.dtype("bfloat16")).tobytes()


@pytest.mark.parametrize(
    "changes",
    [{"about": "another"}, {"rows": 11}, {"dtype": "float16"}, {"modules": {"all": 1200}}],
)
def test_the_rest_of_another_store_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="has 2 of 10 rows"), begun(tmp_path / "store") as writer:
        writer.append(gradients(2))
    with (
        pytest.raises(StoreError, match="was begun for other data"),
        begun(tmp_path / "store", **changes),
    ):
        pass


def test_the_rest_of_a_store_that_lost_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError), begun(tmp_path / "store") as writer:
        writer.append(gradients(2))
    state = tmp_path / "store.part" / "written.json"
    state.write_text(json.dumps(json.loads(state.read_text()) | {"rows": 3}))
    with pytest.raises(StoreError, match="cut off"), begun(tmp_path / "store"):
        pass


def test_bad_rows(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="1,200 columns, got shape"),
        begun(tmp_path / "a") as writer,
    ):
        writer.append(np.ones((2, 7)))
    with pytest.raises(ValueError, match="has 10 rows, got 11"), begun(tmp_path / "b") as writer:
        writer.append(gradients(11))
    large = gradients(3)
    large[1, 5] = 1e6
    with (
        pytest.raises(StoreError, match=r"row 1 .* too large for float16"),
        begun(tmp_path / "c", dtype="float16") as writer,
    ):
        writer.append(large)
    with pytest.raises(ValueError, match="rows must be at least 1"):
        begun(tmp_path / "d", rows=0)
    with pytest.raises(StoreError, match="got 'int8'"):
        begun(tmp_path / "d", dtype="int8")


def test_a_store_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    with pytest.raises(FileExistsError, match="is there already"):
        begun(tmp_path / "store")
