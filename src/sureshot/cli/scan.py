"""A scan by the clock, and the file it is kept in."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot.cli.inputs import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot import Bounds


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """What a scan found, and what it cost."""

    bounds: Bounds
    rows: int
    coordinates: int
    bytes_read: int
    seconds: float

    @property
    def gigabytes_per_second(self) -> float:
        """How fast the data was read."""
        return self.bytes_read / self.seconds / 1e9

    @property
    def largest_norm(self) -> float:
        """The norm of the largest row."""
        return float(np.max(np.asarray(self.bounds.norms)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the bounds as a dictionary ready for JSON."""
        return {
            "rows": self.rows,
            "coordinates": self.coordinates,
            "bytes_read": self.bytes_read,
            "seconds": self.seconds,
            "gigabytes_per_second": self.gigabytes_per_second,
            "largest_norm": self.largest_norm,
        }


def scan(data: np.ndarray[Any, Any], threads: int | None = None) -> Scanned:
    """Scan the data by the clock."""
    started = time.perf_counter()
    bounds = sureshot.scan(data, threads=threads)
    seconds = time.perf_counter() - started
    rows, coordinates = data.shape
    return Scanned(bounds, rows, coordinates, data.nbytes, seconds)


def refuse_output(path: Path) -> None:
    """Refuse, before a long scan rather than after it, a file that cannot or must not be written.

    The ending keeps a slip of the hand from overwriting a ``.npy`` file of data.
    """
    if path.suffix != ".npz":
        raise InputError(f"the file to write must end in .npz, got {path}")
    if path.is_dir():
        raise InputError(f"cannot write {path}: Is a directory")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: {path.parent} is not a directory")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"cannot write {path}: Permission denied")


def save(bounds: Bounds, path: Path) -> None:
    """Save bounds, or say in one line why they cannot be."""
    try:
        bounds.save(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
