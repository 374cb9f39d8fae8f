"""Files of ``numpy.save``."""

from __future__ import annotations

from tokenize import TokenError
from typing import TYPE_CHECKING

import numpy as np

from sureshot.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array

SUFFIXES = (".npy",)
# How every such file begins. numpy takes any other file for a pickle, and its message then suggests
# unsafe loading.
MAGIC = b"\x93NUMPY"


def open_path(path: Path, name: str | None) -> Array:
    """Open a file as a memory map; it has one array, without a name."""
    if name is not None:
        raise ValueError(f"{path} holds one array without a name, got name={name!r}")
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise StorageError(f"{path} is not a .npy file (write one with numpy.save)")
    try:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (EOFError, OverflowError, SyntaxError, TokenError, ValueError) as error:
        raise StorageError(f"cannot use {path} as an array of numbers: {error}") from error
    return array
