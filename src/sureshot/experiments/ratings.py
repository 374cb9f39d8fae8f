"""Ratings of items by users, read from the files in which they are published."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.experiments.compare import MissingPart
from sureshot.experiments.sets import UnreadableData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import numpy.typing as npt

    from sureshot._types import Array, Ints


NEVER_AGAIN = 255
# What numpy and h5py raise for files that are something else.
UNREADABLE = (OSError, ValueError, KeyError, IndexError)


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """One rating per position. Users and items are numbered from 0 without gaps."""

    users: Ints
    items: Ints
    values: npt.NDArray[np.float32]
    origin: str = ""  # the files they were read from

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return int(self.users.max()) + 1

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return int(self.items.max()) + 1


def numbered(users: Array, items: Array, values: Array) -> Ratings:
    """Return ratings with their users and items numbered anew, in the order of their names.

    Examples
    --------
    >>> numbered(np.array([7, 9, 7]), np.array([1, 1, 5]), np.array([3, 4, 5])).users
    array([0, 1, 0])
    """
    if not len(users):
        raise ValueError("expected at least one rating, got none")
    return Ratings(
        np.unique(users, return_inverse=True)[1].astype(np.int64),
        np.unique(items, return_inverse=True)[1].astype(np.int64),
        np.asarray(values, dtype=np.float32),
    )


def read_triples(paths: Iterable[Path], delimiter: str | None, skip: int = 0) -> Ratings:
    """Read lines of user, item and rating, with anything after them."""
    parts = [
        np.loadtxt(path, delimiter=delimiter, skiprows=skip, usecols=(0, 1, 2), ndmin=2)
        for path in paths
    ]
    found = np.concatenate(parts)
    return numbered(found[:, 0].astype(np.int64), found[:, 1].astype(np.int64), found[:, 2])


def read_netflix(paths: Iterable[Path]) -> Ratings:
    """Read the Netflix Prize files: a line ``movie:``, then its lines ``user,rating,date``."""
    users, items, values = [], [], []
    for path in paths:
        for movie, lines in _movies(path):
            found = np.loadtxt(lines, delimiter=",", usecols=(0, 1), dtype=np.int64, ndmin=2)
            users.append(found[:, 0])
            values.append(found[:, 1])
            items.append(np.full(len(found), movie))
    return numbered(*(np.concatenate(column) for column in (users, items, values)))


def _movies(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each movie of a file with its lines."""
    movie: int | None = None
    lines: list[str] = []
    with path.open(encoding="ascii") as file:
        for line in file:
            if line.rstrip().endswith(":"):
                if lines and movie is not None:
                    yield movie, lines
                movie, lines = int(line.rstrip().rstrip(":")), []
            elif line.strip():
                if movie is None:
                    raise ValueError(
                        f"{path}: expected a line 'movie:' first, got {line.strip()!r}"
                    )
                lines.append(line)
    if lines and movie is not None:
        yield movie, lines


def read_double_colons(paths: Iterable[Path]) -> Ratings:
    """Read lines ``user::item::rating::time``, as MovieLens 1M and 10M have them."""
    lines = [line.split("::") for path in paths for line in path.read_text("ascii").splitlines()]
    found = np.array([line[:3] for line in lines if len(line) >= 3], dtype=np.float64)
    found = found.reshape(-1, 3)
    return numbered(found[:, 0].astype(np.int64), found[:, 1].astype(np.int64), found[:, 2])


def read_arrays(paths: Iterable[Path]) -> Ratings:
    """Read ``.npz`` files with users ``u``, items ``i`` and, if they were rated, ratings ``r``."""
    columns: list[list[Array]] = [[], [], []]
    for path in paths:
        with np.load(path) as file:
            ones = np.ones(len(file["u"]), dtype=np.float32)
            found = file["u"], file["i"], file["r"] if "r" in file.files else ones
        for column, values in zip(columns, found, strict=True):
            column.append(values)
    return numbered(*(np.concatenate(column) for column in columns))


def read_matlab(paths: Iterable[Path]) -> Ratings:
    """Read a MATLAB 7.3 file: ratings ``M``, and what is known of them, ``Otraining`` and ``Otest``.

    MATLAB writes a matrix of users and items by columns, so that it is turned round here.
    """
    h5py: Any = needed("h5py", "files of MATLAB 7.3")
    (path,) = paths
    with h5py.File(path, "r") as file:
        table = file["M"][:].T
        known = (file["Otraining"][:].T != 0) | (file["Otest"][:].T != 0)
    users, items = np.nonzero(known)
    return numbered(users, items, table[users, items])


def read_artists(paths: Iterable[Path]) -> Ratings:
    """Read Yahoo! Music R1: from 0 to 100, and 255 for "never play again", which is taken as 0."""
    found = read_triples(paths, None)
    return replace(found, values=np.where(found.values == NEVER_AGAIN, 0, found.values))


def needed(package: str, purpose: str) -> Any:
    """Import an optional package, or say which extra has it."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise MissingPart(f"{purpose} need {package}: pip install 'sureshot[reproduce]'") from error


@dataclass(frozen=True, slots=True)
class Format:
    """Files that are read together: a pattern below the folder, and how to read what it finds."""

    pattern: str
    read: Callable[[list[Path]], Ratings]


# For each data set the formats in which it may be there; the first that is found counts.
FORMATS: dict[str, tuple[Format, ...]] = {
    "Netflix": (
        Format("training_set/mv_*.txt", read_netflix),
        Format("mv_*.txt", read_netflix),
        Format("combined_data_*.txt", read_netflix),
    ),
    "Yahoo! Music": (
        # R2: songs, in ten files. R1: artists, in one.
        Format("train_*.txt", lambda paths: read_triples(paths, None)),
        Format("ydata-ymusic-user-artist-ratings-v1_0.txt", read_artists),
    ),
    "Yahoo! Music, a part": (Format("ratings_yahoo_music.mat", read_matlab),),
    "MovieLens 100k": (
        Format("u.data", lambda paths: read_triples(paths, None)),
        Format("ratings_ml100k.npz", read_arrays),
    ),
    "MovieLens 1M or 10M": (Format("ratings.dat", read_double_colons),),
    "MovieLens 1M, pairs": (Format("ratings_ml1m_implicit.npz", read_arrays),),
    "MovieLens": (Format("ratings.csv", lambda paths: read_triples(paths, ",", skip=1)),),
}


def find(name: str, folder: Path) -> tuple[Format, list[Path]] | None:
    """Return the format in which a data set is there and its files, None if it is not."""
    for form in FORMATS[name]:
        if paths := sorted(folder.glob(form.pattern)):
            return form, paths
    return None


def load(name: str, folder: Path) -> Ratings:
    """Read a data set from a folder."""
    found = find(name, folder)
    if found is None:
        patterns = ", ".join(form.pattern for form in FORMATS[name])
        raise FileNotFoundError(f"{name}: expected one of {patterns} in {folder}, got none")
    form, paths = found
    files = paths[0].name if len(paths) == 1 else f"{len(paths)} files {form.pattern}"
    try:
        read = form.read(paths)
    except UNREADABLE as error:
        raise UnreadableData(f"{name}: cannot read {files}: {error}") from error
    size = f"{len(read.values):,} ratings of {read.n_items:,} items by {read.n_users:,} users"
    return replace(read, origin=f"{files}: {size}")
