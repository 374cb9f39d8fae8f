"""What a random order is drawn from, and the generator that draws it.

To make a generator takes longer than to search a small array, so that one is made where an order is drawn,
and not before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

# Seeds are drawn from the numbers of so many bits.
SEED_BITS = 63
SEEDS = 2**SEED_BITS


@dataclass(frozen=True, slots=True)
class FirstDraw:
    """The seed that a generator with a given seed draws first."""

    given: int

    def number(self) -> int:
        """Draw it: the same number each time."""
        return int(np.random.default_rng(self.given).integers(SEEDS))


Seed: TypeAlias = int | FirstDraw
Rng: TypeAlias = Seed | np.random.Generator


def generator_of(rng: Rng) -> np.random.Generator:
    """Return the generator of a seed, or the one given.

    Examples
    --------
    >>> first = np.random.default_rng(5).integers(2**63)
    >>> generator_of(FirstDraw(5)).random() == generator_of(int(first)).random()
    True
    """
    return np.random.default_rng(rng.number() if isinstance(rng, FirstDraw) else rng)
