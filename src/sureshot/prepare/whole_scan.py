"""The scan of all rows: piece by piece, so that it can say how far it is and go on after an interruption."""

from __future__ import annotations

import errno
import glob
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sureshot._native import Team
from sureshot.bounds import Bounds, bounds_of_scan, numbers_in_sample
from sureshot.errors import StorageError
from sureshot.prepare.partial_scan import PartialScan
from sureshot.result import ScanInfo
from sureshot.sources.dense import is_coordinate_major
from sureshot.storage.base import Stored
from sureshot.storage.fingerprint import FileState, files_of, fingerprint_of
from sureshot.storage.matrix import Matrix
from sureshot.storage.partitioned import Partitioned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._types import Array
    from sureshot._validate.request import ScanRequest
    from sureshot.storage.fingerprint import Fingerprint

# Bytes of a piece: a fraction of a second.
BYTES_OF_PIECE = 1 << 28
# Bytes of a column that are read together at least, where columns are contiguous: some pages.
BYTES_OF_COLUMN = 1 << 14
# Pieces of a partitioned matrix: its workers share each of them.
PIECES_OF_PARTITIONED = 16

# How often an unfinished scan is saved, and the largest share of the time that this takes.
SECONDS_BETWEEN_SAVES = 5.0
SHARE_OF_SAVES = 0.05


def scan_all(request: ScanRequest) -> Bounds:
    """Scan all rows of the data, and save what is found."""
    data, team = request.data, Team(request.threads)
    path = _path(request.save, data)
    fingerprint = fingerprint_of(data)
    saves = None if path is None or fingerprint is None else Saves(path, fingerprint)
    scan = None if saves is None else saves.kept(data)
    numbers_read = 0
    if scan is None:
        scan = PartialScan.begun(data, team)
        numbers_read = numbers_in_sample(*data.shape)
    in_pieces = saves is not None or request.progress is not None
    try:
        for rows in _pieces(data, scan.done) if in_pieces else [range(len(data))]:
            scan.read(data, rows, team)
            numbers_read += len(rows) * data.shape[1]
            if saves is not None:
                saves.save_if_due(scan)
            if request.progress is not None:
                request.progress(ScanInfo(scan.done, len(data), numbers_read))
    except BaseException:
        if saves is not None and scan.done:
            with suppress(OSError):  # the reason why it stops matters more
                saves.save(scan)
        raise
    _refuse_if_changed(data, fingerprint)
    found = bounds_of_scan(scan.middle, scan.scale, scan.reach, scan.norms, fingerprint)
    if path is not None:
        found.save(path)
    if saves is not None:
        saves.remove()
    return found


class Saves:
    """The file that an unfinished scan is kept in, and when it is written."""

    def __init__(self, path: Path, fingerprint: Fingerprint) -> None:
        self._path = path.with_name(f"{path.name}.partial")
        self._fingerprint = fingerprint
        self._due = time.monotonic() + SECONDS_BETWEEN_SAVES

    def kept(self, data: Array | Matrix) -> PartialScan | None:
        """Return the unfinished scan of this data, if there is one."""
        return PartialScan.kept(self._path, self._fingerprint, data.shape)

    def save_if_due(self, scan: PartialScan) -> None:
        """Save from time to time, but never so often that it slows down the scan."""
        started = time.monotonic()
        if started >= self._due:
            self.save(scan)
            now = time.monotonic()
            self._due = now + max(SECONDS_BETWEEN_SAVES, (now - started) / SHARE_OF_SAVES)

    def save(self, scan: PartialScan) -> None:
        """Save now."""
        scan.save(self._path, self._fingerprint)

    def remove(self) -> None:
        """Remove the file, and what a process that was killed while it wrote one has left."""
        for file in self._path.parent.glob(f"{glob.escape(self._path.name)}*"):
            file.unlink(missing_ok=True)


def _path(save: Path | bool, data: Array | Matrix) -> Path | None:
    """Return the file to write, which must be possible and must not harm the data."""
    if save is False:
        return None
    places = {file.path for file in files_of(data) or ()}
    if save is True:
        if len(places) != 1:
            raise ValueError(
                f"save=True needs data in one file, got data in {len(places) or 'no known'} files: "
                "name the file to write"
            )
        return _path(Bounds.beside(*places), data)
    assert isinstance(save, Path), "what is to be saved is True or a path"
    for place in places:
        if save.resolve().is_relative_to(place.resolve()):
            raise ValueError(
                f"save must not be the data itself or a file in its folder, got {save}"
            )
    if save.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(save))
    if not os.access(save.parent, os.W_OK):  # before the data is read for nothing
        reason = errno.EACCES if save.parent.exists() else errno.ENOENT
        raise OSError(reason, os.strerror(reason), str(save.parent))
    return save


def _pieces(data: Array | Matrix, done: int) -> Iterator[range]:
    """Yield the rows that are scanned together, from row `done` on."""
    n_rows, width = data.shape
    if isinstance(data, Partitioned):
        # Each partition is read once.
        at_least, start = n_rows / PIECES_OF_PARTITIONED, 0
        for stop in sorted({place.last_row for place in data.places}):
            if stop - start >= at_least or stop == n_rows:
                yield range(start, stop)
                start = stop
        return
    count = max(1, BYTES_OF_PIECE // (width * data.itemsize))
    if isinstance(data, np.ndarray) and is_coordinate_major(data):
        count = max(count, BYTES_OF_COLUMN // data.itemsize)
    if isinstance(data, Stored):
        unit = data.access.unit_rows
        count = -(-count // unit) * unit
    for start in range(done, n_rows, count):
        yield range(start, min(start + count, n_rows))


def _refuse_if_changed(data: Array | Matrix, fingerprint: Fingerprint | None) -> None:
    """Raise `StorageError` if the data has changed while it was scanned."""
    if isinstance(data, Matrix):
        data.check_unchanged()
    if fingerprint is None:
        return
    for before, file in zip(fingerprint.files, files_of(data) or (), strict=True):
        difference = before.difference(FileState.of(file))
        if difference:
            raise StorageError(f"{file.path} has changed while it was scanned: {difference}")
