"""A scan of which some rows are done, and the file that keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sureshot._files import read_arrays, write_arrays
from sureshot.bounds import coordinate_scales, row_limits
from sureshot.storage.fingerprint import Fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._native import Team
    from sureshot._types import Array, Floats
    from sureshot.storage.matrix import Matrix

# Of the file, and of what it means: another one for each change of what a scan finds.
FORMAT = 1


@dataclass(slots=True)
class PartialScan:
    """What is known of all coordinates, and of the first rows."""

    middle: Floats
    scale: Floats
    unit: Floats  # 1 / scale
    reach: Floats
    norms: Floats
    done: int = 0  # rows

    @classmethod
    def begun(cls, data: Array | Matrix, team: Team) -> Self:
        """Read the sample of a scan of all rows."""
        scales = coordinate_scales(data, np.arange(len(data)), team)
        return cls(*scales, np.empty(len(data)), np.empty(len(data)))

    def read(self, data: Array | Matrix, rows: range, team: Team) -> None:
        """Scan the next rows."""
        some = slice(rows.start, rows.stop)
        self.reach[some], self.norms[some] = row_limits(
            data, self.middle, self.unit, np.arange(rows.start, rows.stop), team
        )
        self.done = rows.stop

    def save(self, path: Path, fingerprint: Fingerprint) -> None:
        """Keep what is known, as the scan of data with that fingerprint."""
        known = {
            "format": np.array(FORMAT),
            "fingerprint": np.array(fingerprint.to_json()),
            "middle": self.middle,
            "scale": self.scale,
            "reach": self.reach[: self.done],
            "norms": self.norms[: self.done],
        }
        write_arrays(path, known)

    @classmethod
    def kept(cls, path: Path, fingerprint: Fingerprint, shape: tuple[int, int]) -> Self | None:
        """Return what `save` kept of the same data; None if there is nothing that can be used."""
        try:
            known = read_arrays(path, "an unfinished scan")
            if known["format"] != FORMAT:
                return None
            if not fingerprint.same(Fingerprint.from_json(str(known["fingerprint"]))):
                return None
            middle, scale, done = known["middle"], known["scale"], len(known["reach"])
            reach, norms = np.empty(shape[0]), np.empty(shape[0])
            reach[:done], norms[:done] = known["reach"], known["norms"]
        except (FileNotFoundError, KeyError, ValueError):  # absent, or cut off
            return None
        if middle.shape != shape[1:] or scale.shape != shape[1:]:
            return None
        return cls(middle, scale, 1 / scale, reach, norms, done)
