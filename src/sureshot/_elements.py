"""The element types that the kernels read, and what numpy does not know about them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot import _native
from sureshot._native import Element

if TYPE_CHECKING:
    from sureshot._types import Array, Floats

ELEMENTS = {
    "float16": Element.FLOAT16,
    "bfloat16": Element.BFLOAT16,  # of ml_dtypes
    "float32": Element.FLOAT32,
    "float64": Element.FLOAT64,
    "int8": Element.INT8,
    "uint8": Element.UINT8,
    "int16": Element.INT16,
    "bool": Element.BOOL,
}

# Distance from 1 to the next number: numpy's finfo does not know bfloat16.
PRECISION = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}

# Types that nanobind cannot pass are passed as integers of the same size.
PASSED_AS = {"float16": np.uint16, "bfloat16": np.uint16, "bool": np.uint8}


@lru_cache(maxsize=64)
def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a type: numpy puts it together anew each time, which takes microseconds."""
    return dtype.name


def for_kernels(data: Array) -> tuple[Array, Element]:
    """Return the data as it is passed to the kernels, without a copy, and its element type."""
    name = name_of(data.dtype)
    return (data.view(PASSED_AS[name]) if name in PASSED_AS else data), ELEMENTS[name]


def is_number(dtype: np.dtype[Any]) -> bool:
    """Return whether an array of that type can be turned into float64."""
    return dtype.kind in "fiub" or name_of(dtype) == "bfloat16"


def all_finite(numbers: Array) -> bool:
    """Return whether no number of float32 or float64 is infinite or NaN: numpy makes an array to find out."""
    return _native.all_finite(numbers)


def extremes(numbers: Floats) -> tuple[float, float]:
    """Return the smallest and the largest number, in one pass; NaN if one is."""
    return _native.extremes(numbers)


def all_equal(numbers: Array, others: Floats) -> bool:
    """Return whether these numbers, of float32 or float64, are the same as the others."""
    return _native.all_equal(numbers, others)


def nearest(numbers: Floats, dtype: np.dtype[Any]) -> Floats:
    """Return the nearest numbers of that type, infinite where they are too large for it."""
    with np.errstate(over="ignore"):
        return numbers.astype(dtype).astype(np.float64)
