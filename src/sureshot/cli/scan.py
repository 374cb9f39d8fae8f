"""A scan with its time, and the file it is stored in."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot.cli.inputs import InputError, load_bounds, reported_in_one_line
from sureshot.cli.outputs import check_writable, reported_if_unwritable
from sureshot.cli.progress import scan_shown_if_slow

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot import Bounds, ScanInfo


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


def scan(data: Any, name: str, save: Path, threads: int | None = None) -> Scanned:
    """Scan the data of that name, save what is found, and measure the time.

    Raises an `InputError` with the reason if anything cannot be read or written.
    """
    read = 0

    def note(info: ScanInfo) -> None:
        nonlocal read
        read = info.numbers_read
        if shown is not None:
            shown(info)

    started = time.perf_counter()
    with (
        reported_if_unwritable(save),
        reported_in_one_line(),
        scan_shown_if_slow(name) as shown,
    ):
        bounds = sureshot.scan(data, threads=threads, save=save, progress=note)
    seconds = time.perf_counter() - started
    rows, coordinates = data.shape
    return Scanned(bounds, rows, coordinates, read * data.itemsize, seconds)


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
