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
        return _first_bits(np.random.PCG64(self.given))


Seed: TypeAlias = int | FirstDraw
Rng: TypeAlias = Seed | np.random.Generator


def seed_from(generator: np.random.Generator) -> int:
    """Draw a seed: what ``generator.integers(SEEDS)`` returns, in less time.

    Examples
    --------
    >>> bool(seed_from(np.random.default_rng(5)) == np.random.default_rng(5).integers(SEEDS))
    True
    """
    bits = generator.bit_generator
    # Other generators draw other words.
    return _first_bits(bits) if type(bits) is np.random.PCG64 else int(generator.integers(SEEDS))


def _first_bits(words: np.random.PCG64) -> int:
    """Draw a word of 64 bits and return the first of them: a number below a power of two needs no other."""
    return int(words.random_raw()) >> 64 - SEED_BITS


def generator_of(rng: Rng) -> np.random.Generator:
    """Return the generator of a seed, or the one given.

    Examples
    --------
    >>> first = np.random.default_rng(5).integers(2**63)
    >>> generator_of(FirstDraw(5)).random() == generator_of(int(first)).random()
    True
    """
    return np.random.default_rng(rng.number() if isinstance(rng, FirstDraw) else rng)
