"""What shows that a matrix is still the one that was scanned: the state of its files, and a sample of its numbers."""

from __future__ import annotations

import json
import os
import stat
import time
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.errors import BoundsError, StorageError
from sureshot.storage.base import Stored
from sureshot.storage.residency import file_of

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array
    from sureshot.storage.matrix import InFile, Matrix

# The sample: so many pieces at fixed places, each of about a page.
PIECES = 32
BYTES_OF_PIECE = 4096
# Has no divisor in common with PIECES: the rows that are sampled begin at places all over their columns.
STEP = 13

NANOSECONDS = 10**9


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file is known by without reading it; of a folder, all files in it together."""

    path: str
    where: str  # which of its numbers are meant
    size: int
    modified: int  # nanoseconds since 1970

    @classmethod
    def of(cls, file: InFile) -> FileState:
        """Return the state of a file now."""
        path, where = file
        try:
            status = path.stat()
            size, modified = status.st_size, status.st_mtime_ns
            if stat.S_ISDIR(
                status.st_mode
            ):  # which takes far less time than to read the chunks in these files
                size, modified = _of_folder(path)
        except OSError as error:
            raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error
        return cls(str(path), where, size, modified)

    def difference(self, now: FileState) -> str | None:
        """Say what has changed; where the file lies does not matter."""
        if self.where != now.where:
            return f"its numbers were those at {self.where}, now those at {now.where}"
        if self.size != now.size:
            return f"it had {self.size:,} bytes, now {now.size:,}"
        if self.modified != now.modified:
            return f"it was written at {_utc(self.modified)}, now at {_utc(now.modified)}"
        return None


def _of_folder(folder: Path) -> tuple[int, int]:
    """Return how large all files of a folder are, and when the last one was written."""
    size = modified = 0
    for place, _, names in os.walk(folder):
        for name in names:
            status = os.stat(os.path.join(place, name))  # noqa: PTH116, PTH118 - many files
            size, modified = size + status.st_size, max(modified, status.st_mtime_ns)
    return size, modified


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """The files of a matrix when it was scanned, and a hash of some of its numbers."""

    files: tuple[FileState, ...]
    sample: str
    made: int  # nanoseconds since 1970
    # States of files whose numbers have been compared.
    _confirmed: set[tuple[FileState, ...]] = field(default_factory=set, repr=False)

    def check(self, data: Array | Matrix) -> None:
        """Raise `BoundsError` if `data` lies in files that are not the ones that were scanned.

        The states of the files are compared at each call, the sample once for each state.
        """
        files = files_of(data)
        if files is None:
            return
        now = tuple(map(FileState.of, files))
        if now in self._confirmed:
            return
        if len(now) != len(self.files):
            raise self._refused("the data", f"it lay in {len(self.files)} files, now in {len(now)}")
        for before, after in zip(self.files, now, strict=True):
            difference = before.difference(after)
            if difference:
                raise self._refused(after.path, difference)
        if sample_of(data) != self.sample:
            raise self._refused(now[0].path, "some of its numbers are others")
        self._confirmed.add(now)

    def same(self, other: Fingerprint) -> bool:
        """Return whether both are of the same numbers, wherever their files lie."""
        return (
            self.sample == other.sample
            and len(self.files) == len(other.files)
            and not any(map(FileState.difference, self.files, other.files))
        )

    def _refused(self, what: str, why: str) -> BoundsError:
        return BoundsError(
            f"{what} has changed since it was scanned at {_utc(self.made)}: {why}; scan it again"
        )

    def to_json(self) -> str:
        """Return all of it as text."""
        files = [asdict(file) for file in self.files]
        return json.dumps({"files": files, "sample": self.sample, "made": self.made})

    @classmethod
    def from_json(cls, text: str) -> Fingerprint:
        """Read what `to_json` returned."""
        try:
            content: dict[str, Any] = json.loads(text)
            files = tuple(FileState(**file) for file in content["files"])
            return cls(files, str(content["sample"]), int(content["made"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"a fingerprint must be written by to_json, got {text!r}") from error


def fingerprint_of(data: Array | Matrix) -> Fingerprint | None:
    """Return the fingerprint of a matrix; None if it is not known in which files its numbers are."""
    files = files_of(data)
    if files is None:
        return None
    states = tuple(map(FileState.of, files))
    return Fingerprint(states, sample_of(data), time.time_ns())


def files_of(data: Array | Matrix) -> tuple[InFile, ...] | None:
    """Return the files that have all numbers of a matrix; None if they are not known."""
    if isinstance(data, np.ndarray):
        file = file_of(data)
        return None if file is None else (file,)
    return data.files()


def sample_of(data: Array | Matrix) -> str:
    """Return a hash of type, shape and some numbers, read in the way that a search reads them."""
    n_rows, width = data.shape
    size = min(width, BYTES_OF_PIECE // data.dtype.itemsize)
    found = blake2b(f"{data.dtype} {data.shape}".encode(), digest_size=16)
    array = np.asarray(data) if isinstance(data, np.ndarray) else None  # a map is slower to slice
    piece = np.empty((1, 1, size), data.dtype)
    for at in range(PIECES):
        row = at * (n_rows - 1) // (PIECES - 1)
        start = at * STEP % PIECES * (width - size) // (PIECES - 1)
        if array is not None:
            piece[0, 0] = array[row, start : start + size]
        else:
            assert isinstance(data, Stored), "a matrix in files is stored"
            data.read(np.array([row]), np.array([start]), size, piece)
        found.update(piece.tobytes())
    return found.hexdigest()


def _utc(nanoseconds: int) -> str:
    whole, rest = divmod(nanoseconds, NANOSECONDS)
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(whole))
    return f"{moment}.{rest // 10**6:03} UTC"
