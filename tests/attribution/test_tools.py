"""Stores that the installed tools write themselves; `nox -s attribution` has the tools."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.attribution import StoreError, StoreWriter, open_store
from tests.attribution.stores import MODULES, WIDTH, gradients

if TYPE_CHECKING:
    from pathlib import Path

WHERE = "is not installed: nox -s attribution"


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_bergson_writes_and_we_read(tmp_path: Path, dtype: str) -> None:
    data: Any = pytest.importorskip("bergson.data", reason=f"bergson {WHERE}")
    rows = gradients(9, dtype=np.dtype(dtype))
    written = data.create_index(tmp_path / "run", len(rows), MODULES, np.dtype(dtype))
    written[:] = rows
    written.flush()
    store = open_store(tmp_path / "run")
    assert store.modules.widths == MODULES
    assert store.parts[0].tobytes() == rows.tobytes()


def test_bergson_writes_tokens_and_we_read(tmp_path: Path) -> None:
    data: Any = pytest.importorskip("bergson.data", reason=f"bergson {WHERE}")
    rows = gradients(7)
    written, _ = data.create_token_index(tmp_path / "run", np.array([3, 0, 4]), MODULES, "float32")
    written[:] = rows
    written.flush()
    store = open_store(tmp_path / "run")
    assert store.examples.tolist() == [0, 0, 0, 2, 2, 2, 2]
    assert store.parts[0].tobytes() == rows.tobytes()


def test_we_write_and_bergson_reads(tmp_path: Path) -> None:
    data: Any = pytest.importorskip("bergson.data", reason=f"bergson {WHERE}")
    rows = gradients(9)
    with StoreWriter(tmp_path / "run", rows=9, modules=MODULES) as writer:
        writer.append(rows)
    read = data.load_module_gradients(tmp_path / "run")
    assert list(read) == list(MODULES)
    assert read["head.weight"].shape == (9, 480)
    assert data.load_gradients(tmp_path / "run").tobytes() == writer_bytes(rows)


def writer_bytes(rows: Any) -> bytes:
    return bytes(rows.astype(np.dtype("bfloat16")).tobytes())


@pytest.mark.parametrize("half", [False, True])
def test_trak_writes_and_we_read(tmp_path: Path, half: bool) -> None:
    savers: Any = pytest.importorskip("trak.savers", reason=f"traker {WHERE}")
    rows = gradients(8, dtype=np.float16 if half else np.float32)
    about = {"JL dimension": WIDTH, "JL matrix type": "normal", "train set size": 8}
    saver = savers.MmapSaver(
        save_dir=tmp_path / "trak",
        metadata=about,
        train_set_size=8,
        proj_dim=WIDTH,
        load_from_save_dir=True,
        logging_level=50,
        use_half_precision=half,
    )
    saver.register_model_id(0, _allow_featurizing_already_registered=False)
    with pytest.raises(StoreError, match="8 of 8 examples have no gradients"):
        open_store(tmp_path / "trak")
    saver.current_store["is_featurized"][:] = 1
    saver.serialize_current_model_id_metadata()
    with pytest.raises(StoreError, match="finalize_features"):
        open_store(tmp_path / "trak")
    saver.current_store["features"][:] = rows
    saver.current_store["features"].flush()
    saver.model_ids[0]["is_finalized"] = 1
    saver.serialize_current_model_id_metadata()
    store = open_store(tmp_path / "trak")
    assert store.parts[0].tobytes() == rows.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_dattri_writes_and_we_read(tmp_path: Path, dtype: str) -> None:
    torch: Any = pytest.importorskip("torch", reason=f"torch {WHERE}")
    reason = f"dattri {WHERE}"
    room = "dattri.algorithm.block_projected_if"
    chunks: Any = pytest.importorskip(f"{room}.offload.disk_io.memory_map", reason=reason)
    metadata: Any = pytest.importorskip(f"{room}.core.metadata", reason=reason)
    rows = gradients(10)
    tensor = torch.from_numpy(rows).to(getattr(torch, dtype))
    for first, batches in ((0, [(0, 4), (4, 8)]), (8, [(8, 10)])):
        info = [
            {"batch_idx": start // 4, "start_row": start - first, "end_row": stop - first}
            for start, stop in batches
        ]
        chunks.ChunkedMemoryMapHandler.write_chunk(
            str(tmp_path / "cache" / "grad"),
            "gradients",
            tensor[first : batches[-1][1]],
            info,
            list(MODULES.values()),
        )
    manager = metadata.MetadataManager(str(tmp_path / "cache"), list(MODULES))
    loader = SimpleNamespace(batch_size=4, dataset=range(10), sampler=range(10), drop_last=False)
    loader_type = type("Loader", (SimpleNamespace,), {"__len__": lambda _: 3})
    manager.initialize_complete_dataset(loader_type(**vars(loader)))
    store = open_store(tmp_path / "cache")
    assert store.modules.widths == MODULES
    assert store.examples.tolist() == list(range(10))
    assert [len(part) for part in store.parts] == [8, 2]
    found = np.concatenate(store.parts)
    assert found.tobytes() == rows.astype(np.dtype(dtype)).tobytes()
