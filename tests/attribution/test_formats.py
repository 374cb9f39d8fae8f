"""Stores in the published formats are mapped, not copied, and say what their rows and columns are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.attribution import open_store
from tests.attribution.stores import (
    BFLOAT16,
    MODULES,
    WIDTH,
    gradients,
    write_bergson,
    write_dattri,
    write_trak,
)

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array
    from sureshot.attribution import Store


def assert_holds(store: Store, rows: Array) -> None:
    """Compare a store with what was written; its rows are maps of files."""
    assert store.shape == rows.shape
    assert store.dtype == rows.dtype
    assert len(store) == len(rows)
    for part in store.parts:
        assert is_mapped(part)
        assert not part.flags.writeable
    found = np.concatenate(store.parts)
    assert found.tobytes() == rows.tobytes()


def is_mapped(array: Any) -> bool:
    return isinstance(array, np.memmap) or (
        getattr(array, "base", None) is not None and is_mapped(array.base)
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_bergson(tmp_path: Path, dtype: str) -> None:
    rows = gradients(9, dtype=np.dtype(dtype))
    store = open_store(write_bergson(tmp_path / "run", rows))
    assert_holds(store, rows)
    assert store.format == "bergson"
    assert store.modules.names == tuple(MODULES)
    assert store.modules.span("conv.bias") == (700, 720)
    assert store.examples.tolist() == list(range(9))
    assert repr(store) == f"Store(9 rows of 1,200 {dtype} numbers, 3 modules, bergson)"


def test_bergson_without_base_dtype(tmp_path: Path) -> None:
    rows = gradients(3, dtype=np.float16)
    folder = write_bergson(tmp_path / "run", rows)
    old = {"names": list(MODULES), "formats": [f"({width},)<f2" for width in MODULES.values()]}
    info = json.loads((folder / "info.json").read_text()) | {"dtype": old}
    del info["base_dtype"]
    (folder / "info.json").write_text(json.dumps(info))
    assert_holds(open_store(folder), rows)


def test_shards_of_bergson(tmp_path: Path) -> None:
    rows = gradients(10, dtype=BFLOAT16)
    write_bergson(tmp_path / "run" / "shard_00000", rows[:4])
    write_bergson(tmp_path / "run" / "shard_00001", rows[4:])
    store = open_store(tmp_path / "run")
    assert_holds(store, rows)
    assert [len(part) for part in store.parts] == [4, 6]
    assert store.examples.tolist() == list(range(10))


def test_tokens_of_bergson(tmp_path: Path) -> None:
    rows = gradients(10)
    write_bergson(tmp_path / "run" / "shard_0", rows[:6], counts=[2, 0, 4])
    write_bergson(tmp_path / "run" / "shard_1", rows[6:], counts=[1, 3])
    store = open_store(tmp_path / "run")
    assert_holds(store, rows)
    assert store.examples.tolist() == [0, 0, 2, 2, 2, 2, 3, 4, 4, 4]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_trak(tmp_path: Path, dtype: str) -> None:
    rows = gradients(7, dtype=np.dtype(dtype))
    folder = write_trak(tmp_path / "trak", {0: rows})
    for path in (folder, folder / "0", folder / "0" / "features.mmap"):
        store = open_store(path)
        assert_holds(store, rows)
        assert store.format == "trak"
        assert store.modules.widths == {"features": WIDTH}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("described", [True, False])
def test_dattri(tmp_path: Path, dtype: str, described: bool) -> None:
    rows = gradients(29, dtype=np.dtype(dtype))
    folder = write_dattri(tmp_path / "cache", rows, described=described)
    for path in (folder, folder / "grad"):
        store = open_store(path)
        assert_holds(store, rows)
        assert store.format == "dattri"
        assert [len(part) for part in store.parts] == [12, 12, 5]
        assert list(store.modules.widths.values()) == list(MODULES.values())
        assert store.examples.tolist() == list(range(29))
        if described:
            assert store.modules.names == tuple(MODULES)


def test_batches_of_dattri_in_any_order(tmp_path: Path) -> None:
    rows = gradients(12)
    folder = write_dattri(tmp_path / "cache", rows)
    about = folder / "grad" / "chunk_gradients_0_2_metadata.json"
    about.write_text(
        about.read_text()
        .replace('"batch_idx": 0', '"batch_idx": 9')
        .replace('"batch_idx": 2', '"batch_idx": 0')
        .replace('"batch_idx": 9', '"batch_idx": 2')
    )
    assert open_store(folder).examples.tolist() == [8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_npy(tmp_path: Path, dtype: str, order: Any) -> None:
    rows = np.asarray(gradients(6, dtype=np.dtype(dtype)), order=order)
    np.save(tmp_path / "rows.npy", rows)
    store = open_store(tmp_path / "rows.npy", modules={"a": 1000, "b": 200})
    assert_holds(store, rows)
    assert store.modules.names == ("a", "b")
    assert open_store(tmp_path / "rows.npy").modules.names == ("gradient",)


def test_npy_of_uint16_is_bfloat16_if_said_so(tmp_path: Path) -> None:
    rows = gradients(6, dtype=BFLOAT16)
    np.save(tmp_path / "rows.npy", rows.view(np.uint16))
    with pytest.raises(ValueError, match="say what with dtype="):
        open_store(tmp_path / "rows.npy")
    assert_holds(open_store(tmp_path / "rows.npy", dtype="bfloat16"), rows)
