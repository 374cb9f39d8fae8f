"""What is known about the data: limits of its values, norms of its rows, or a scan of both."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._files import read_arrays, write_arrays
from sureshot.sources.norms import norms_of
from sureshot.sources.passes import column_limits, reach_and_squares
from sureshot.storage.fingerprint import Fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import numpy.typing as npt

    from sureshot._native import Team
    from sureshot._types import Array, Floats, Ints
    from sureshot.storage.matrix import Matrix

# A scan takes the scale of each coordinate from this many runs of this many rows, spread over the
# data. Runs of neighbours, because reading one value of a column loads a whole cache line.
RUNS = 16
RUN = 8

# No coordinate's scale is smaller than this share of the typical one: otherwise a value that is large
# against the sample would determine the reach of its row alone.
SMALLEST_SCALE = 0.05

# No scale is smaller than this: its inverse must be finite.
SMALLEST_DIVISOR = 2.0**-1000

FORMAT = 1  # of saved scans


@dataclass(frozen=True, eq=False, repr=False)
class Bounds:
    """Limits that the guarantee may assume. Everything is optional.

    Parameters
    ----------
    low, high
        Limits of the data values: scalars, or arrays of shape (N,) per coordinate or (n, 1) per
        row.
    norms
        Upper bounds of the Euclidean norms of the rows: a scalar or an array (n,).
    norms_exact
        Whether `norms` are the exact norms, up to rounding (64 roundings of the data's type, 4
        of half precision), as those of a scan are. A search by cosine then divides by them and
        need not read all rows for their norms; its scores are only as exact as these norms, and its certificate
        says so. A row that is read whole and has another norm raises `BoundsError`.
    middle, scale, reach
        What a scan finds: every value of row i lies within ``reach[i] * scale`` of ``middle``,
        both of shape (N,).
    fingerprint
        What `scan` knows of the files that it has read: sizes, times of change and a hash of some
        numbers. A search of files that are others now raises `BoundsError`. Without it
        (``dataclasses.replace(bounds, fingerprint=None)``) the caller says that the numbers are the
        same.

    Examples
    --------
    >>> import numpy as np
    >>> import sureshot
    >>> sureshot.Bounds(low=-1.0, high=1.0)
    Bounds(low, high)
    >>> sureshot.scan(np.eye(5))
    Bounds(scan of 5 rows of 5 coordinates)
    """

    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None
    norms: npt.ArrayLike | None = None
    middle: Floats | None = None
    scale: Floats | None = None
    reach: Floats | None = None
    norms_exact: bool = False
    fingerprint: Fingerprint | None = None

    @cached_property
    def unchangeable(self) -> bool:
        """Whether the numbers cannot be changed in place, as those of a scan cannot."""
        return all(
            value.base is None and not value.flags.writeable
            if isinstance(value, np.ndarray)
            else isinstance(value, (bool, int, float))
            for value in self._known().values()
        )

    def kept(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """Return what follows from unchangeable bounds alone; it is made once, for all searches."""
        if name not in self._memory:
            self._memory[name] = make()
        return self._memory[name]

    @cached_property
    def _memory(self) -> dict[Hashable, Any]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        if self.reach is not None and self.scale is not None:
            return f"Bounds(scan of {len(self.reach)} rows of {len(self.scale)} coordinates)"
        return f"Bounds({', '.join(self._known())})"

    def _known(self) -> dict[str, Any]:
        """Return the numbers that are known."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values.pop("fingerprint")
        return {
            name: value for name, value in values.items() if not (value is None or value is False)
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to an ``.npz`` file that `load` reads."""
        known = {name: np.asarray(value) for name, value in self._known().items()}
        if self.fingerprint is not None:
            known["fingerprint"] = np.array(self.fingerprint.to_json())
        known["format"] = np.array(FORMAT)
        write_arrays(Path(path), known)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Bounds:
        """Read what `save` wrote."""
        known = read_arrays(Path(path), "saved bounds")
        names = {field.name for field in fields(cls)}
        if known.pop("format", None) != FORMAT or not known.keys() <= names:
            raise ValueError(f"{os.fspath(path)} does not hold bounds saved in format {FORMAT}")
        exact = bool(known.pop("norms_exact", False))
        text = known.pop("fingerprint", None)
        return cls(
            **{name: _unchangeable(known[name]) for name in known},
            norms_exact=exact,
            fingerprint=None if text is None else Fingerprint.from_json(str(text)),
        )

    @staticmethod
    def beside(path: str | os.PathLike[str]) -> Path:
        """Return where the scan of a file is saved unless another place is named.

        Examples
        --------
        >>> print(Bounds.beside("folder/data.npy"), Bounds.beside("data.zarr"))
        folder/data.bounds.npz data.zarr.bounds.npz
        """
        data = Path(path)
        return data.with_name(data.name.removesuffix(".npy") + ".bounds.npz")


def scan_rows(data: Array | Matrix, arms: Ints, team: Team) -> Bounds:
    """Scan some rows of checked data: scales from a sample of them, then one pass over all of them.

    What is found has one entry for each of these rows.
    """
    middle, scale, unit = coordinate_scales(data, arms, team)
    reach, norms = row_limits(data, middle, unit, arms, team)
    return bounds_of_scan(middle, scale, reach, norms)


def coordinate_scales(
    data: Array | Matrix, arms: Ints, team: Team
) -> tuple[Floats, Floats, Floats]:
    """Return middle and scale of each coordinate from a sample of these rows, and the inverse of the scale."""
    low, high = column_limits(data, arms[_sample(len(arms))], team)
    # Values that are not finite are found below, by the norm of their row. In place, because fresh
    # memory costs more than the arithmetic.
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        high /= 2
        scale = np.subtract(high, low / 2, out=high)
        middle = np.add(low, scale, out=low)
        largest = float(scale.max())
        if largest > 0:
            unit = np.divide(scale, largest)
            typical = largest * float(np.sqrt(np.mean(np.square(unit, out=unit))))
            np.maximum(scale, max(SMALLEST_SCALE * typical, SMALLEST_DIVISOR), out=scale)
        else:
            unit = np.empty_like(scale)
            scale.fill(1)
        np.divide(1, scale, out=unit)
    return middle, scale, unit


def row_limits(
    data: Array | Matrix, middle: Floats, unit: Floats, arms: Ints, team: Team
) -> tuple[Floats, Floats]:
    """Return reach and norm of each of these rows, which must be finite."""
    reach, squares = reach_and_squares(data, middle, unit, arms, team)
    norms = norms_of(data, arms, squares)
    finite = np.isfinite(norms) & np.isfinite(reach)
    if not finite.all():
        row = int(arms[np.argmin(finite)])
        raise ValueError(
            f"data row {row} holds values that are not finite, or too large for a norm"
        )
    return reach, norms


def bounds_of_scan(
    middle: Floats,
    scale: Floats,
    reach: Floats,
    norms: Floats,
    fingerprint: Fingerprint | None = None,
) -> Bounds:
    """Return what a scan has found as bounds that cannot be changed."""
    norms, middle, scale, reach = map(_unchangeable, (norms, middle, scale, reach))
    return Bounds(
        norms=norms,
        middle=middle,
        scale=scale,
        reach=reach,
        norms_exact=True,
        fingerprint=fingerprint,
    )


def _unchangeable(values: Floats) -> Floats:
    """Return an array that cannot be changed, so that what follows from it can be kept."""
    own = values if values.base is None else values.copy()
    own.flags.writeable = False
    return own


def numbers_in_scan(n_arms: int, width: int) -> int:
    """Return how many numbers a scan of so many rows reads: the sample is read twice."""
    return n_arms * width + numbers_in_sample(n_arms, width)


def numbers_in_sample(n_arms: int, width: int) -> int:
    """Return how many numbers the sample of a scan of so many rows has."""
    return len(_sample(n_arms)) * width


def _sample(n_arms: int) -> Ints:
    if n_arms <= RUNS * RUN:
        return np.arange(n_arms)
    spacing = n_arms // RUNS
    starts = spacing * np.arange(RUNS)
    starts -= starts % (RUN * min(2, spacing // RUN))  # a run does not straddle two lines
    return (starts[:, None] + np.arange(RUN)).ravel()
