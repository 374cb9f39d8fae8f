"""A scan with its time, and the file it is stored in."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot.cli.inputs import InputError, load_bounds
from sureshot.cli.outputs import check_writable, reported_if_unwritable

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
    """Scan the data and measure the time."""
    started = time.perf_counter()
    bounds = sureshot.scan(data, threads=threads)
    seconds = time.perf_counter() - started
    rows, coordinates = data.shape
    return Scanned(bounds, rows, coordinates, data.nbytes, seconds)


def beside(data: Path) -> Path:
    """Return the default file of a scan.

    Examples
    --------
    >>> from pathlib import Path
    >>> print(beside(Path("folder/data.npy")), beside(Path("data.v2")))
    folder/data.bounds.npz data.v2.bounds.npz
    """
    return data.with_name(data.name.removesuffix(".npy") + ".bounds.npz")


def check_output(path: Path, *, overwrite: bool) -> None:
    """Raise an `InputError`, before a long scan, for a file that cannot or must not be written.

    The required ending prevents that a ``.npy`` file of data is overwritten by mistake. An existing
    file must be an older scan, unless `overwrite` allows to replace any file.
    """
    if path.suffix != ".npz":
        raise InputError(f"the file to write must end in .npz, got {path}")
    check_writable(path)
    if overwrite or not path.exists():
        return
    try:
        load_bounds(path)
    except InputError as error:
        message = f"{error.message}; choose another file, or pass --overwrite"
        raise InputError(message) from error


def save(bounds: Bounds, path: Path) -> None:
    """Save bounds, or raise an `InputError` with the reason."""
    with reported_if_unwritable(path):
        bounds.save(path)
