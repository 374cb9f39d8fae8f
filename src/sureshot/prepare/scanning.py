"""The scan of the searched rows that ``bounds="scan"`` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot._validate.bounds import SCANNED, KnownBounds, norm_rounding
from sureshot.bounds import scan_rows

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Array, Ints
    from sureshot.storage.matrix import Matrix


def scanned_bounds(data: Array | Matrix, arms: Ints, team: Team) -> KnownBounds:
    """Read the searched rows, and nothing else, for what bounds them."""
    found = scan_rows(data, arms, team)
    norms = np.asarray(found.norms)
    return KnownBounds(
        words=SCANNED,
        norms=norms,
        exact_norms=norms,
        norm_words=SCANNED,
        norm_rounding=norm_rounding(data.dtype),
        middle=found.middle,
        scale=found.scale,
        reach=found.reach,
    )
