"""The selection of candidates from tiles of products: nothing that can be among the best is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot import _native
from sureshot._native import Selection, Team

if TYPE_CHECKING:
    from sureshot._types import Array, Floats


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("instruction_set", _native.instruction_sets())
@pytest.mark.parametrize("n_arms", [3001, 256, 97, 36])
def test_the_selection_keeps_what_can_be_among_the_best(
    dtype: Any, instruction_set: str, n_arms: int
) -> None:
    before = _native.instruction_set()
    _native.use_instruction_set(instruction_set)
    try:
        check_selection(np.random.default_rng(15), dtype, n_arms)
    finally:
        _native.use_instruction_set(before)


def check_selection(rng: np.random.Generator, dtype: Any, n_arms: int) -> None:
    n_queries, k = 45, 9
    scores = rng.standard_normal((n_arms, n_queries)).astype(dtype)
    scores[:, 1].sort()  # every score is a candidate for a while
    scores[17, 2] = np.nan
    scores[18, 2] = -np.inf
    scores[19, 2] = np.inf
    units = np.ldexp(1.0, rng.integers(-2, 3, n_queries))
    lengths = rng.random(n_queries) / 50
    for both_signs in (False, True):
        arrays: dict[str, Floats] = {
            "offset": rng.standard_normal(n_arms) * (not both_signs),
            "scale": rng.random(n_arms),
            "fixed": rng.random(n_arms) / 100,
            "factor": rng.random(n_arms),
        }
        assert_selected(scores, units, lengths, arrays, k, both_signs=both_signs)


def assert_selected(
    scores: Array,
    units: Floats,
    lengths: Floats,
    arrays: dict[str, Floats],
    k: int,
    *,
    both_signs: bool,
) -> None:
    """Compare a selection from tiles of scores with its definition."""
    n_arms, n_queries = scores.shape
    selection = Selection(units, lengths, k, n_arms)
    for start in range(0, n_arms, 1000):
        some = slice(start, start + 1000)
        selection.add(
            Team(2),
            scores[some],
            start,
            **{name: values[some] for name, values in arrays.items()},
            both_signs=both_signs,
        )
    candidates, starts = selection.candidates(Team(1))
    for query in range(n_queries):
        middle = scores[:, query] + units[query] * arrays["offset"]
        middle = arrays["scale"] * (np.abs(middle) if both_signs else middle)
        error = units[query] * arrays["fixed"] + lengths[query] * arrays["factor"]
        last = np.sort(np.nan_to_num(middle - error, nan=-np.inf, posinf=np.inf, neginf=-np.inf))[
            -k
        ]
        expected = np.flatnonzero(~(middle + error < last))
        np.testing.assert_array_equal(candidates[starts[query] : starts[query + 1]], expected)


@pytest.mark.parametrize("n_arms", [60, 256, 3001])
def test_the_selection_where_float32_confuses_the_order(n_arms: int) -> None:
    """Offsets cancel the scores: what is left of them in float32 is mostly rounding."""
    rng = np.random.default_rng(18)
    scores = (1e6 + rng.random((n_arms, 20))).astype(np.float32)
    zeros, ones = np.zeros(n_arms), np.ones(n_arms)
    offset = -1e6 - rng.random(n_arms)
    arrays = {"offset": offset, "scale": ones, "fixed": zeros, "factor": zeros}
    assert_selected(scores, np.ones(20), np.ones(20), arrays, 5, both_signs=False)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [(np.float32, size) for size in (1e-42, 1e-30, 1.0, 1e25, 1e35)]
    + [(np.float64, size) for size in (1e-300, 1e-42, 1.0, 1e35, 1e200)],
)
@pytest.mark.parametrize("of_scale", [-280, -30, 0, 30, 280])
def test_the_selection_of_very_large_and_very_small_scores(
    dtype: Any, size: float, of_scale: int
) -> None:
    rng = np.random.default_rng(17)
    scores = (size * rng.standard_normal((200, 40))).astype(dtype)
    zeros = np.zeros(200)
    for spread in (0, 60):
        scale = np.ldexp(rng.random(200), rng.integers(of_scale, of_scale + spread + 1, 200))
        arrays = {
            "offset": size * rng.standard_normal(200),
            "scale": scale,
            "fixed": zeros,
            "factor": scale * abs(size) * 1e-3,
        }
        ones = np.ones(40)
        assert_selected(scores, ones, ones, arrays, 5, both_signs=False)


def test_a_selection_gives_up_a_query_with_too_many_candidates() -> None:
    selection, ones = Selection(np.ones(2), np.ones(2), 3, 100), np.ones(5000)
    scores = np.stack([np.zeros(5000), np.arange(5000.0)], axis=1)
    selection.add(
        Team(1),
        scores,
        0,
        offset=0 * ones,
        scale=ones,
        fixed=0 * ones,
        factor=0 * ones,
        both_signs=False,
    )
    candidates, starts = selection.candidates(Team(1))
    assert starts.tolist() == [0, 0, 3]
    assert candidates.tolist() == [4997, 4998, 4999]
