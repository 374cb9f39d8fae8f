"""Scores are numbers, or the error says which number was meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sureshot.evals.arms import chosen, names_of, settings_of
from sureshot.evals.scores import reward_of


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        ("Yes", 1.0),
        ("false", 0.0),
        ("0.75", 0.75),
        (3, 3.0),
        (False, 0.0),
        (np.float32(0.5), 0.5),
        ({"only": "C"}, 1.0),
    ],
)
def test_what_is_a_number(value: Any, number: float) -> None:
    assert reward_of(value) == number


@pytest.mark.parametrize(
    ("value", "key", "error", "message"),
    [
        ("maybe", None, ValueError, "C, I, P or N, yes or no, or a number, got 'maybe'"),
        ("nan", None, ValueError, "a finite number, got 'nan'"),
        (float("inf"), None, ValueError, "a finite number, got inf"),
        ([1, 2], None, TypeError, "a letter, a number or a mapping of them, got"),
        (None, None, TypeError, "a letter, a number or a mapping of them, got None"),
        ({"a": 1, "b": 2}, None, ValueError, "key must be one of 'a', 'b'; none was given"),
        ({"a": 1, "b": 2}, "c", ValueError, "key must be one of 'a', 'b'; got 'c'"),
        (1.0, "a", ValueError, "key 'a' needs scores that are mappings, got 1.0"),
    ],
)
def test_what_is_none(value: Any, key: str | None, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        reward_of(value, key)


def test_names_of_arms() -> None:
    settings = settings_of([object(), "m", {"model": "m", "seed": 3}, {"seed": 4}], refused=())
    assert names_of(None, settings) == ["object", "m", "m, seed=3", "seed=4"]
    assert chosen("metric", ["acc"], None) == "acc"
