"""What `top_k` and `scan` are given, as a matrix in memory or a stored one."""

from __future__ import annotations

from typing import Any

import numpy as np

from sureshot.storage.residency import matrix_behind


def opened(data: Any) -> Any:
    """Return the file behind a memory map that is not in memory; anything else as it is."""
    if isinstance(data, np.memmap):
        return matrix_behind(data)
    return data
