"""A uniformly random order of coordinates. One order serves all arms."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from sureshot._types import Ints


def uniform_order(rng: np.random.Generator, count: int) -> Ints:
    """Return 0 ... count - 1 in a uniformly random order."""
    return rng.permutation(count)
