"""Tables of results, models by examples, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Floats


def table_of(
    table: Any, bounds: tuple[float, float], models: Sequence[str] | None = None
) -> tuple[tuple[str, ...], Floats]:
    """Return the names of the models, and the results as numbers.

    Examples
    --------
    >>> table_of([[True, False], [True, True]], (0, 1))
    (('model 0', 'model 1'), array([[1., 0.],
           [1., 1.]]))
    """
    values = np.asarray(table)
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] < 1:
        message = (
            "table must have shape (models, examples) with at least two models and one example, got "
            f"shape {values.shape}"
        )
        raise ValueError(message)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"table must hold real numbers or booleans, got {values.dtype}")
    names = _names(table, len(values), models)
    results = values.astype(np.float64)
    low, high = bounds
    if not low < high:
        raise ValueError(f"bounds must have low < high, got ({low:g}, {high:g})")
    outside = ~((results >= low) & (results <= high))
    if outside.any():
        model, example = np.argwhere(outside)[0]
        message = (
            f"{names[model]} has {results[model, example]:g} on example {example}, outside "
            f"bounds=({low:g}, {high:g})"
        )
        raise ValueError(message)
    return names, results


def _names(table: Any, count: int, models: Sequence[str] | None) -> tuple[str, ...]:
    index = getattr(table, "index", None)
    if models is not None:
        index = models
    elif index is None or callable(index):  # no DataFrame; a list has a method of this name
        index = [f"model {at}" for at in range(count)]
    if len(index) != count:
        raise ValueError(f"models must have one name for each of {count} rows, got {len(index)}")
    return tuple(str(name) for name in index)
