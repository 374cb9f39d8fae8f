"""Features as TRAK stores them: numpy's format in ``features.mmap``, a folder for each model.

The folder above has ``id_MODEL.json``, which says whether the features are complete, and
``_is_featurized.mmap`` in the folder of the model says so of each example. Row i is example i.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from sureshot.attribution.columns import Modules
from sureshot.attribution.errors import StoreError
from sureshot.attribution.maps import map_npy, read_json
from sureshot.attribution.parts import Layout, Part

if TYPE_CHECKING:
    from pathlib import Path

DATA, DONE = "features.mmap", "_is_featurized.mmap"


def found_at(path: Path) -> bool:
    """Return whether this is the folder of TRAK, of one of its models, or a file of features."""
    return bool(_models(path)) or _is_model(path) or path.name == DATA


def read(path: Path) -> Layout:
    """Map the features of one model."""
    if path.name == DATA:
        path = path.parent
    models = _models(path)
    if not _is_model(path):
        if len(models) > 1:
            names = ", ".join(one.name for one in models)
            raise StoreError(
                f"{path} holds the models {names}: open the folder of each, and search them together "
                "with Checkpoints"
            )
        (path,) = models
    _refuse_incomplete(path)
    rows = map_npy(path / DATA)
    modules = Modules({"features": rows.shape[1]})
    return Layout("trak", (Part(path / DATA, rows),), modules, None, path / DATA)


def _is_model(path: Path) -> bool:
    return (path / DATA).exists()


def _models(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    return [one for one in sorted(path.iterdir()) if one.is_dir() and _is_model(one)]


def _refuse_incomplete(path: Path) -> None:
    if (path / DONE).exists():
        try:
            done = np.load(path / DONE, mmap_mode="r")
        except (ValueError, EOFError) as error:
            raise StoreError(f"{path / DONE} is cut off: {error}") from error
        missing = int(np.count_nonzero(done == 0))
        if missing:
            raise StoreError(
                f"{path} is still being written: {missing:,} of {done.size:,} examples have no "
                "gradients yet"
            )
    about = path.parent / f"id_{path.name}.json"
    if about.exists():
        state = read_json(about).get(path.name, {})
        if state.get("is_finalized") != 1:
            raise StoreError(
                f"{path} is still being written: {about.name} says {json.dumps(state)}; the features "
                "are there after TRAKer.finalize_features"
            )
