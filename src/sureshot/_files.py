"""How files are written, whole or not at all, and how arrays are read from them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sureshot._types import Array


def replace_file(path: Path, write: Callable[[Any], object]) -> None:
    """Write a file so that it is there as a whole or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            write(file)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays by their names to an ``.npz`` file."""
    replace_file(path, lambda file: np.savez(file, allow_pickle=False, **arrays))


def read_arrays(path: Path, what: str) -> dict[str, Array]:
    """Read what `write_arrays` wrote; a file that is cut off or another one does not hold `what`."""
    import zlib  # noqa: PLC0415 - neither is worth a slower import of the package
    from zipfile import BadZipFile  # noqa: PLC0415

    try:
        with path.open("rb") as file:
            return dict(np.load(file, allow_pickle=False))
    except FileNotFoundError:
        raise
    except (
        ValueError,
        TypeError,
        OSError,
        EOFError,
        MemoryError,
        RuntimeError,  # of a file that says it is encrypted, or packed in an unknown way
        BadZipFile,
        zlib.error,
    ) as error:
        raise ValueError(f"{path} does not hold {what}: {error}") from error
