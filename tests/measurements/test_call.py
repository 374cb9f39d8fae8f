from __future__ import annotations

import numpy as np

from measurements.speed import call


def test_every_kind_of_call_has_a_line() -> None:
    lines = call.measure(20, 30, calls=3)
    assert [line[0] for line in lines].count("numpy") == 1
    assert {tuple(line[:3]) for line in lines[1:]} == {
        (metric, bounds, method)
        for metric, known in (
            ("ip", ("none", "limits", "scan")),
            ("sqeuclidean", ("none", "limits", "scan")),
            ("cosine", ("norms", "scan")),
        )
        for bounds in known
        for method in call.METHODS
    }


def test_the_product_finds_the_best_rows_first() -> None:
    data = np.eye(5, dtype=np.float32)
    query = np.array([0, 3, 1, 2, 0], dtype=np.float32)
    assert call.product(data, query, 3).tolist() == [1, 3, 2]
