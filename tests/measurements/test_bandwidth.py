from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from measurements.speed import bandwidth


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
def test_any_array_can_be_measured(dtype: Any, order: Any) -> None:
    memory = bandwidth.measure(np.zeros((97, 1535), dtype=dtype, order=order), threads=2)
    assert memory.bandwidth > 0
    assert memory.line_seconds > 0
