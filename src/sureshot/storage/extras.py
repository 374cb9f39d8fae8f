"""Libraries that some formats need, and the error that says how to install them."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np


def library(name: str, extra: str, why: str) -> Any:
    """Return an optional library, or raise `ImportError` with what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{why} needs {name}: pip install 'sureshot[{extra}]'") from error


def bfloat16() -> np.dtype[Any]:
    """Return the type of numbers that numpy does not know."""
    dtype: np.dtype[Any] = np.dtype(library("ml_dtypes", "files", "bfloat16").bfloat16)
    return dtype
