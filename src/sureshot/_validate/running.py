"""Checks how a search is run: seed, threads, progress."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._seed import SEED_BITS, SEEDS, FirstDraw
from sureshot._validate.choices import kind
from sureshot._validate.numbers import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._seed import Seed

# More than any machine has; the native code counts threads in 32 bits.
MOST_THREADS = 1 << 16


def drawn_seed(rng: Any) -> int:
    """Draw the seed of a call, so that each query of a batch can start from the same one."""
    if rng is None:
        return secrets.randbits(SEED_BITS)
    try:
        generator = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        message = f"rng must be None, a non-negative integer or a numpy Generator, got {rng!r}"
        raise type(error)(message) from None
    return int(generator.integers(SEEDS))


def seed_to_draw(rng: Any) -> Seed:
    """Return the same seed, drawn now only if that changes the state of a generator."""
    return FirstDraw(rng) if type(rng) is int and rng >= 0 else drawn_seed(rng)


def thread_count(threads: Any) -> int:
    """Return how many threads to use: by default as many as this process may."""
    if threads is not None:
        return min(whole_number(threads, "threads", 1), MOST_THREADS)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def progress_function(progress: Any, info: str = "RoundInfo") -> Callable[[Any], object] | None:
    """Return what is called after each round, or each piece of a scan, with an object of such a type."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of one {info}, got {kind(progress)}")
    return progress  # type: ignore[no-any-return]


def place_to_save(save: Any) -> Path | bool:
    """Return the file in which a scan is saved; True: one beside the data, False: none."""
    if save is None or isinstance(save, bool):
        return bool(save)
    if not isinstance(save, (str, os.PathLike)):
        raise TypeError(f"save must be None, True or a path, got {kind(save)}")
    return Path(save)
