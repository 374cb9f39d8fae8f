"""A store that is cut off, unfinished or no store is refused, with what was expected and what came."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.attribution import StoreError, open_store
from tests.attribution.stores import MODULES, gradients, write_bergson, write_dattri, write_trak

if TYPE_CHECKING:
    from pathlib import Path


def cut(path: Path, bytes_less: int = 2) -> None:
    path.write_bytes(path.read_bytes()[:-bytes_less])


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no store at"):
        open_store(tmp_path / "absent")
    with pytest.raises(StoreError, match=r"expected gradients.bin and info.json"):
        open_store(tmp_path)


def test_a_folder_of_bergson_that_is_cut_off(tmp_path: Path) -> None:
    folder = write_bergson(tmp_path / "run", gradients(5))
    cut(folder / "gradients.bin")
    with pytest.raises(
        StoreError, match=r"cut off .*5 rows of 1,200 float32 take 24,000 bytes, got 23,998"
    ):
        open_store(folder)
    (folder / "gradients.bin").write_bytes(bytes(24_004))
    with pytest.raises(StoreError, match="too long"):
        open_store(folder)
    (folder / "gradients.bin").write_bytes(bytes(24_000))
    cut(folder / "info.json", 30)
    with pytest.raises(StoreError, match=r"info.json is cut off or still being written"):
        open_store(folder)
    (folder / "info.json").unlink()
    with pytest.raises(StoreError, match=r"info.json is missing"):
        open_store(folder)


def test_a_folder_of_bergson_that_is_being_written(tmp_path: Path) -> None:
    write_bergson(tmp_path / "run.part", gradients(5))
    for name in ("run.part", "run"):
        with pytest.raises(StoreError, match=r"run.part is still being written"):
            open_store(tmp_path / name)
    write_bergson(tmp_path / "run", gradients(5))
    assert len(open_store(tmp_path / "run")) == 5
    write_bergson(tmp_path / "shards" / "shard_0", gradients(5))
    write_bergson(tmp_path / "shards" / "shard_1.part", gradients(5))
    with pytest.raises(StoreError, match=r"shard_1.part is still being written"):
        open_store(tmp_path / "shards")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_grads": "5"}, "expected 'num_grads' as int, got '5'"),
        ({"grad_sizes": None}, "expected 'grad_sizes' as dict, got None"),
        ({"grad_sizes": {"a": 0}}, "module 'a': expected at least one column, got 0"),
        (
            {"base_dtype": "int8"},
            "expected gradients of float16, bfloat16, float32, float64; got 'int8'",
        ),
        ({"attribute_tokens": True}, "offsets.npy is missing or cut off"),
    ],
)
def test_wrong_descriptions(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    folder = write_bergson(tmp_path / "run", gradients(5), **changes)
    with pytest.raises(StoreError, match=message):
        open_store(folder)


def test_offsets_that_do_not_fit(tmp_path: Path) -> None:
    folder = write_bergson(tmp_path / "run", gradients(5), counts=[2, 4])
    with pytest.raises(StoreError, match=r"offsets.npy: expected .* up to 5"):
        open_store(folder)


def test_shards_that_do_not_fit_together(tmp_path: Path) -> None:
    write_bergson(tmp_path / "run" / "a", gradients(5))
    write_bergson(tmp_path / "run" / "b", gradients(5), modules={"other": 1200})
    with pytest.raises(StoreError, match="other modules"):
        open_store(tmp_path / "run")
    write_bergson(tmp_path / "run" / "b", gradients(5, dtype=np.float16))
    with pytest.raises(StoreError, match=r"b holds float16, .*a float32"):
        open_store(tmp_path / "run")


def test_features_of_trak_that_are_unfinished(tmp_path: Path) -> None:
    folder = write_trak(tmp_path / "begun", {0: gradients(5)}, done=0)
    with pytest.raises(StoreError, match="still being written: 5 of 5 examples"):
        open_store(folder)
    folder = write_trak(tmp_path / "not final", {0: gradients(5)}, final=0)
    with pytest.raises(StoreError, match=r"after TRAKer.finalize_features"):
        open_store(folder)


def test_several_models_of_trak(tmp_path: Path) -> None:
    folder = write_trak(tmp_path / "trak", {0: gradients(5), 1: gradients(5, seed=1)})
    with pytest.raises(StoreError, match=r"models 0, 1: open the folder of each.*Checkpoints"):
        open_store(folder)
    assert len(open_store(folder / "1")) == 5


def test_features_of_trak_that_are_cut_off(tmp_path: Path) -> None:
    folder = write_trak(tmp_path / "trak", {0: gradients(5)})
    cut(folder / "0" / "features.mmap")
    with pytest.raises(StoreError, match=r"features.mmap is cut off .* 24,128 bytes, got 24,126"):
        open_store(folder)


def test_chunks_of_dattri_that_are_missing_or_cut_off(tmp_path: Path) -> None:
    folder = write_dattri(tmp_path / "cache", gradients(29))
    last = folder / "grad" / "chunk_gradients_6_7.mmap"
    cut(last)
    with pytest.raises(StoreError, match=r"chunk_gradients_6_7.mmap is cut off"):
        open_store(folder)
    last.unlink()
    with pytest.raises(StoreError, match=r"chunk_gradients_6_7.mmap is missing"):
        open_store(folder)
    (folder / "grad" / "chunk_gradients_6_7_metadata.json").unlink()
    with pytest.raises(
        StoreError, match="still being written: 2 of 8 batches are missing, batch 6"
    ):
        open_store(folder)


def test_a_chunk_of_dattri_in_the_middle_is_missing(tmp_path: Path) -> None:
    folder = write_dattri(tmp_path / "cache", gradients(29), described=False)
    (folder / "grad" / "chunk_gradients_3_5_metadata.json").unlink()
    with pytest.raises(StoreError, match="3 of 8 batches are missing, batch 3 first"):
        open_store(folder)


def test_descriptions_of_dattri_that_do_not_fit(tmp_path: Path) -> None:
    folder = write_dattri(tmp_path / "cache", gradients(29))
    about = folder / "batch_metadata.json"
    good = json.loads(about.read_text())
    about.write_text(json.dumps(good | {"layer_names": ["one"]}))
    with pytest.raises(StoreError, match=r"3 layers in the chunks, 1 in batch_metadata.json"):
        open_store(folder)
    good["batch_info"]["1"]["sample_count"] = 3
    about.write_text(json.dumps(good))
    with pytest.raises(StoreError, match=r"batch 1 has 4 rows, and batch_metadata.json says 3"):
        open_store(folder)
    (folder / "ifvp").mkdir()
    (folder / "ifvp" / "chunk_ifvp_0_0_metadata.json").write_text("{}")
    with pytest.raises(StoreError, match="both grad and ifvp"):
        open_store(folder)
    with pytest.raises(StoreError, match="expected the description of a chunk"):
        open_store(folder / "ifvp")


def test_bad_npy_files(tmp_path: Path) -> None:
    file = tmp_path / "rows.npy"
    np.save(file, gradients(5))
    with pytest.raises(StoreError, match="modules must have 1,200 columns in all, got 7"):
        open_store(file, modules={"a": 7})
    with pytest.raises(StoreError, match="expected bfloat16 in this machine's byte order, got <f4"):
        open_store(file, dtype="bfloat16")
    cut(file)
    with pytest.raises(StoreError, match="cut off"):
        open_store(file)
    file.write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(StoreError, match=r"not a whole .npy file"):
        open_store(file)
    for wrong, message in (
        (np.ones(5), "expected rows and columns"),
        (np.ones((5, 2), np.int64), "got int64"),
        (np.ones((5, 2), ">f4"), "byte order"),
        (np.ones((0, 2)), "at least one row"),
    ):
        np.save(file, wrong)
        with pytest.raises(StoreError, match=message):
            open_store(file)


def test_options_of_npy_files_are_for_npy_files(tmp_path: Path) -> None:
    folder = write_bergson(tmp_path / "run", gradients(5))
    with pytest.raises(ValueError, match=r"dtype and modules are for .npy files"):
        open_store(folder, modules=MODULES)


def test_bfloat16_needs_ml_dtypes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_bergson(tmp_path / "run", gradients(5, dtype=np.dtype("bfloat16")))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ImportError, match=r"pip install 'sureshot\[attribution\]'"):
        open_store(folder)
