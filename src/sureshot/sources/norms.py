"""The norms that rows are said to have, checked wherever a row is read whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot.errors import BoundsError

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints

# More than the relative error of a norm that is computed in double.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class PromisedNorms:
    """The norms of some rows, as somebody has promised them."""

    arms: Ints  # the rows, ascending
    norms: Floats
    rounding: float  # by how much of itself a norm may be off

    def check(self, arms: Ints, squares: Floats, *, whole: bool = True) -> None:
        """Raise `BoundsError` if the squared norms of these rows, or parts of rows, say otherwise."""
        found, promised = np.sqrt(squares), self.norms[np.searchsorted(self.arms, arms)]
        leeway = promised * (self.rounding + ROUNDING)
        wrong = found > promised + leeway
        if whole:
            wrong |= found < promised - leeway
        if wrong.any():
            at = int(np.argmax(wrong))
            message = (
                f"data row {arms[at]} has a norm of {'' if whole else 'at least '}{found[at]:.9g}, "
                f"not the {promised[at]:.9g} which the bounds promise as exact: pass the norms of "
                "this data, or bounds='scan'"
            )
            raise BoundsError(message)
