"""Checks `bounds`: what is known of the data, as far as it concerns the searched arms."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sureshot._elements import PRECISION, all_equal, extremes, is_number, name_of, nearest
from sureshot._validate.choices import one_of
from sureshot.bounds import Bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from sureshot._types import Array, Floats, Ints
    from sureshot.storage.fingerprint import Fingerprint
    from sureshot.storage.matrix import Matrix

Kept = TypeVar("Kept")

# Types of norms that are compared with earlier ones as they are.
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))

# "unit" and given norms are raised by this many roundings of the data's type: rows that were
# normalised in float32 have norms a little above 1.
NORM_ROUNDINGS = 64
# Rows of half precision are normalised in a wider type and rounded in the end.
NORM_ROUNDINGS_OF_HALVES = 4

SCANNED = "the data is what was scanned"


@dataclass(frozen=True, slots=True)
class KnownBounds:
    """Bounds, checked against the data and cut down to the searched arms."""

    words: str = ""  # what they rest on
    low: Floats | None = None  # scalars, (N,) or (arms, 1), as they were given
    high: Floats | None = None
    dtype: np.dtype[Any] | None = None  # of floats, whose nearest numbers low and high mean
    norms: Floats | None = None  # (arms,), upper bounds, as they were given
    exact_norms: Floats | None = None  # (arms,), where the norms are known
    norm_words: str = ""  # what it rests on that these are the norms
    norm_rounding: float = 0.0  # by how much of itself a norm may be off
    middle: Floats | None = None  # (N,), of a scan
    scale: Floats | None = None  # (N,), of a scan
    reach: Floats | None = None  # (arms,), of a scan
    fingerprint: Fingerprint | None = None  # of the files that were scanned
    _memory: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def kept(self, name: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return what follows from these bounds and not from a query; it is made once."""
        if name not in self._memory:
            self._memory[name] = make()
        made: Kept = self._memory[name]
        return made

    @property
    def limits_known(self) -> bool:
        """Whether the values have limits, and not just the norms of the rows."""
        return self.low is not None or self.reach is not None

    def limits(self) -> tuple[Floats, Floats] | None:
        """Return low and high, if there are any, as numbers that the data can have."""
        low, high = self.low, self.high
        if low is None or high is None:
            return None
        if self.dtype is not None:
            # 0.1 in float32 is a little more than 0.1.
            rounded_low, rounded_high = nearest(low, self.dtype), nearest(high, self.dtype)
            low = np.where(np.isfinite(rounded_low), np.minimum(low, rounded_low), low)
            high = np.where(np.isfinite(rounded_high), np.maximum(high, rounded_high), high)
        return low, high

    def raised_norms(self) -> Floats | None:
        """Return the norms, if there are any, raised by their rounding."""
        return None if self.norms is None else self.norms * (1 + self.norm_rounding)


# No data of floats has bounds unless somebody says so.
NOTHING_KNOWN = KnownBounds()


def known_bounds(bounds: Any, data: Array | Matrix, arms: Ints) -> KnownBounds | None:
    """Return what `bounds` says of the searched arms; None if they are to be scanned."""
    if bounds is None:
        return _dtype_bounds(data.dtype)
    words = "the data lies within the given bounds"
    if isinstance(bounds, str):
        name = one_of(bounds, ("unit", "scan"), "bounds as a string")
        if name == "scan":
            return None
        words = "no row has a norm above 1"
        bounds = Bounds(norms=1.0)
    elif isinstance(bounds, (tuple, list)):
        low, high = pair(bounds)
        if type(low) is type(high) is float:
            return _between(low, high, words, data.dtype)
        bounds = Bounds(low=low, high=high)
    elif not isinstance(bounds, Bounds):
        message = (
            f"bounds must be None, a pair (low, high), a Bounds, 'unit' or 'scan', got {bounds!r}"
        )
        raise TypeError(message)
    if len(arms) < len(data):
        return _checked(bounds, words, data, arms)
    if not bounds.unchangeable:
        return _while_unchanged(bounds, words, data, arms)
    found: KnownBounds = bounds.kept(
        (words, data.shape, name_of(data.dtype)), lambda: _checked(bounds, words, data, arms)
    )
    return found


def _while_unchanged(bounds: Bounds, words: str, data: Array | Matrix, arms: Ints) -> KnownBounds:
    """Return what bounds say that can be changed in place: if they are norms, what they said before is kept.

    To compare the numbers with a copy takes less time than to check them.
    """
    norms = bounds.norms
    if bounds.low is not None or bounds.high is not None or bounds.reach is not None:
        return _checked(bounds, words, data, arms)
    if type(norms) is not np.ndarray or norms.dtype not in FLOATS or not norms.flags.c_contiguous:
        return _checked(bounds, words, data, arms)
    memory: dict[Hashable, KnownBounds] = bounds.kept("norms that may change", dict)
    key = (data.shape, name_of(data.dtype))
    found = memory.get(key)
    if found is None or found.norms is None or not all_equal(norms, found.norms):
        found = _checked(replace(bounds, norms=norms.copy()), words, data, arms)
        memory[key] = found
    return found


@lru_cache(maxsize=16)  # to check them takes longer than to look them up
def _between(low: float, high: float, words: str, dtype: np.dtype[Any]) -> KnownBounds:
    """Return what two limits of all values say of any data of a type."""
    any_data = np.empty((1, 1), dtype)
    return _checked(Bounds(low=low, high=high), words, any_data, np.zeros(1, dtype=np.int64))


def _checked(bounds: Bounds, words: str, data: Array | Matrix, arms: Ints) -> KnownBounds:
    norm_words = "the given norms are the rows' norms"
    if bounds.reach is not None:
        words = norm_words = SCANNED
    low, high = _limits(bounds, data, arms)
    middle, scale, reach = _scanned(bounds, data, arms)
    norms = _norms(bounds.norms, data, arms)
    exact = _are_exact(bounds)
    return KnownBounds(
        words=words,
        low=low,
        high=high,
        dtype=data.dtype if name_of(data.dtype) in PRECISION else None,
        norms=norms,
        exact_norms=norms if exact else None,
        norm_words=norm_words if exact else "",
        norm_rounding=norm_rounding(data.dtype),
        middle=middle,
        scale=scale,
        reach=reach,
        fingerprint=bounds.fingerprint,
    )


def norm_rounding(dtype: np.dtype[Any]) -> float:
    """Return by how much of itself a norm may be off if it is said to be that of such a row."""
    precision = PRECISION.get(name_of(dtype), PRECISION["float64"])
    half = precision > PRECISION["float32"]
    return (NORM_ROUNDINGS_OF_HALVES if half else NORM_ROUNDINGS) * precision


def _dtype_bounds(dtype: np.dtype[Any]) -> KnownBounds:
    if name_of(dtype) in PRECISION:
        return NOTHING_KNOWN
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    words = f"the data is of type {dtype}, whose limits are {low} and {high}"
    return KnownBounds(words, np.array(float(low)), np.array(float(high)))


def _limits(
    bounds: Bounds, data: Array | Matrix, arms: Ints
) -> tuple[Floats | None, Floats | None]:
    if bounds.low is None and bounds.high is None:
        return None, None
    if bounds.low is None or bounds.high is None:
        raise ValueError("bounds must have both low and high, or neither")
    low, high = _limit(bounds.low, "low", data), _limit(bounds.high, "high", data)
    if low.ndim == high.ndim == 0 and low >= high:
        raise ValueError(f"bounds must have low < high, got ({low:g}, {high:g})")
    if low.ndim + high.ndim == 3:
        raise ValueError("bounds must be per coordinate or per row, not one end of each kind")
    if low.ndim + high.ndim and (low > high).any():
        at = int(np.argmax(np.ravel(low > high)))
        what = "row" if low.ndim + high.ndim >= 2 and 2 in (low.ndim, high.ndim) else "coordinate"
        raise ValueError(f"bounds must have low <= high, but not so at {what} {at}")
    if low.ndim == 2 or high.ndim == 2:
        low, high = (np.broadcast_to(end, (len(data), 1))[arms] for end in (low, high))
    return low, high


def _limit(value: Any, name: str, data: Array | Matrix) -> Floats:
    given = np.asarray(value)
    if not is_number(given.dtype):
        raise TypeError(f"bounds must be numbers, got {name} = {value!r}")
    limit = given.astype(np.float64)
    n_arms, width = data.shape
    if limit.shape not in ((), (width,), (n_arms, 1)):
        message = (
            f"bounds must be scalars, arrays of shape ({width},), one entry per coordinate, or of "
            f"shape ({n_arms}, 1), one per row; got {name} of shape {limit.shape}"
        )
        raise ValueError(message)
    if not (np.isfinite(limit).all() if limit.ndim else math.isfinite(limit)):
        raise ValueError(f"bounds must be finite, got {name} = {value!r}")
    return limit


def _norms(norms: Any, data: Array | Matrix, arms: Ints) -> Floats | None:
    if norms is None:
        return None
    given = np.asarray(norms)
    if not is_number(given.dtype):
        raise TypeError(f"bounds must have numbers as norms, got {norms!r}")
    if given.shape not in ((), (len(data),)):
        message = (
            f"bounds must have one norm, or one for each of the {len(data)} rows; "
            f"got norms of shape {given.shape}"
        )
        raise ValueError(message)
    limit = np.ascontiguousarray(given, dtype=np.float64).reshape(given.shape)
    smallest, largest = extremes(limit)
    if not (smallest >= 0 and largest < np.inf):
        raise ValueError("bounds must have finite norms of at least 0")
    if limit.ndim == 0:
        return np.full(len(arms), limit)
    return limit if len(arms) == len(limit) else limit[arms]


def _are_exact(bounds: Bounds) -> bool:
    if not isinstance(bounds.norms_exact, (bool, np.bool_)):
        raise TypeError(f"bounds must have norms_exact True or False, got {bounds.norms_exact!r}")
    if bounds.norms_exact and bounds.norms is None:
        raise ValueError("bounds must have norms if norms_exact is True, got none")
    return bool(bounds.norms_exact)


def _scanned(
    bounds: Bounds, data: Array | Matrix, arms: Ints
) -> tuple[Floats | None, Floats | None, Floats | None]:
    if bounds.middle is None or bounds.scale is None or bounds.reach is None:
        return None, None, None
    scanned = (len(bounds.reach), len(bounds.scale))
    if scanned != data.shape:
        message = f"bounds come from a scan of data of shape {scanned}, got data of {data.shape}"
        raise ValueError(message)
    whole = len(arms) == len(bounds.reach)
    return bounds.middle, bounds.scale, bounds.reach if whole else bounds.reach[arms]


def pair(bounds: Any) -> tuple[Any, Any]:
    """Return the two ends of a pair."""
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise TypeError(f"bounds must be a pair (low, high), got {bounds!r}")
    return bounds[0], bounds[1]
