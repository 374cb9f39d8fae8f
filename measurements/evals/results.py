"""The table of results that is committed: which model is right on which example."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from measurements.harness.page import DOCS
from sureshot.experiments import rows

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Bools
    from sureshot.experiments.rows import Row

FILE = DOCS / "results" / "evals-models.jsonl"


def row_of(model: str, right: Bools, **more: object) -> Row:
    """Return the row of a model: a bit for each example, eight of them in two hexadecimal digits.

    Examples
    --------
    >>> row_of("small", np.array([True, False, True]))["right"]
    'a0'
    """
    return {
        **more,
        "model": model,
        "examples": len(right),
        "right": np.packbits(right).tobytes().hex(),
    }


def read(path: Path = FILE) -> tuple[list[str], Bools]:
    """Return the names of the models, and which examples each is right on, shape (models, examples)."""
    found = rows.read(path)
    packed = np.array([list(bytes.fromhex(row["right"])) for row in found], dtype=np.uint8)
    right = np.unpackbits(packed, axis=1, count=found[0]["examples"]).astype(bool)
    return [row["model"] for row in found], right
