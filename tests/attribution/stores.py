"""Small stores in the published formats, written with numpy and JSON alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sureshot._types import Array

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
MODULES = {"conv.weight": 700, "conv.bias": 20, "head.weight": 480}
WIDTH = sum(MODULES.values())


def gradients(rows: int, width: int = WIDTH, seed: int = 0, dtype: Any = np.float32) -> Array:
    """Return gradients with a few directions in common, as real ones have."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((rows, 8)) @ rng.standard_normal((8, width))
    return (shared + 0.5 * rng.standard_normal((rows, width))).astype(dtype)


def write_bergson(
    folder: Path,
    rows: Array,
    modules: Mapping[str, int] = MODULES,
    counts: Sequence[int] | None = None,
    **changes: object,
) -> Path:
    """Write what bergson's create_index does, or create_token_index if there are counts of tokens."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gradients.bin").write_bytes(rows.tobytes())
    info = {
        "attribute_tokens": counts is not None,
        "num_items": len(rows) if counts is None else len(counts),
        "num_grads": len(rows),
        "grad_sizes": dict(modules),
        "base_dtype": rows.dtype.name,
    }
    (folder / "info.json").write_text(json.dumps(info | changes))
    if counts is not None:
        np.save(folder / "offsets.npy", np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    return folder


def write_trak(folder: Path, models: Mapping[int, Array], done: int = 1, final: int = 1) -> Path:
    """Write what TRAK's MmapSaver does: headers of numpy, one folder for each model."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metadata.json").write_text(json.dumps({"JL dimension": WIDTH}))
    for model, features in models.items():
        (folder / str(model)).mkdir()
        for name, content in (
            ("features", features),
            ("grads", features),
            ("out_to_loss", np.ones((len(features), 1), np.float32)),
            ("_is_featurized", np.full((len(features), 1), done, np.int32)),
        ):
            with (folder / str(model) / f"{name}.mmap").open("wb") as file:
                np.save(file, content)
        state = {str(model): {"is_featurized": done, "is_finalized": final}}
        (folder / f"id_{model}.json").write_text(json.dumps(state))
    return folder


def write_dattri(
    folder: Path, rows: Array, batch: int = 4, per_chunk: int = 3, *, described: bool = True
) -> Path:
    """Write what dattri's ChunkedMemoryMapHandler and MetadataManager do."""
    chunks = folder / "grad"
    chunks.mkdir(parents=True)
    starts = list(range(0, len(rows), batch))
    for first in range(0, len(starts), per_chunk):
        numbers = range(first, min(first + per_chunk, len(starts)))
        inside = rows[starts[first] : starts[numbers[-1]] + batch]
        name = f"chunk_gradients_{numbers[0]}_{numbers[-1]}"
        stored = "uint16" if rows.dtype == BFLOAT16 else rows.dtype.name
        (chunks / f"{name}.mmap").write_bytes(inside.tobytes())
        batches = [
            {
                "batch_idx": number,
                "start_row": batch * at,
                "end_row": min(batch * (at + 1), len(inside)),
            }
            for at, number in enumerate(numbers)
        ]
        about = {
            "chunk_filename": name,
            "data_type": "gradients",
            "storage_dtype": stored,
            "shape": list(inside.shape),
            "layer_dims": list(MODULES.values()),
            "batches": batches,
        }
        (chunks / f"{name}_metadata.json").write_text(json.dumps(about))
    if described:
        info = {
            str(number): {"start_idx": start, "sample_count": len(rows[start : start + batch])}
            for number, start in enumerate(starts)
        }
        known = {"batch_info": info, "layer_names": list(MODULES), "total_samples": len(rows)}
        (folder / "batch_metadata.json").write_text(json.dumps(known))
    return folder
