"""Checks the method, and what it asks of k, replacement, budget and blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._validate.choices import listed, one_of
from sureshot._validate.numbers import finite_number, whole_number
from sureshot.search.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot.search.methods import Method


def known_method(method: Any, k: int) -> Method:
    """Return the record of a method that can find k arms."""
    found = METHODS[one_of(method, METHODS, "method")]
    if k > 1 and not found.any_k:
        message = (
            f"method={method!r} finds the best arm only, got k={k}; methods for more are "
            f"{_those(lambda other: other.any_k)}"
        )
        raise ValueError(message)
    return found


def with_replacement(replacement: Any, method: Method) -> bool:
    """Return whether rewards are drawn with replacement."""
    if replacement is not None and not isinstance(replacement, (bool, np.bool_)):
        raise TypeError(f"replacement must be None, True or False, got {replacement!r}")
    if replacement and not method.replacement:
        message = (
            f"method={method.name!r} never reads a number twice: replacement=True works with "
            f"{_those(lambda other: other.replacement)}"
        )
        raise ValueError(message)
    return method.replacement if replacement is None else bool(replacement)


def known_budget(budget: Any, seconds: Any, method: Method) -> tuple[float | None, float | None]:
    """Return the budget as a share of all numbers, and that in seconds."""
    if budget is not None:
        budget = finite_number(budget, "budget")
        if not 0 < budget <= 1:
            message = (
                f"budget must be a share of all numbers, above 0 and at most 1, got {budget:g}"
            )
            raise ValueError(message)
    if seconds is not None:
        seconds = finite_number(seconds, "budget_seconds")
        if seconds <= 0:
            raise ValueError(f"budget_seconds must be above 0, got {seconds:g}")
    if method.budget == "none" and not (budget is None and seconds is None):
        with_budget = _those(lambda other: other.budget != "none")
        raise ValueError(f"a budget works with {with_budget}, got method={method.name!r}")
    if method.budget == "required" and seconds is not None:
        message = (
            f"method={method.name!r} plans its pulls beforehand and cannot watch the clock: "
            f"expected budget, got budget_seconds={seconds:g}"
        )
        raise ValueError(message)
    if method.budget == "required" and budget is None:
        message = (
            f"method={method.name!r} spends a fixed budget: expected budget=, a share of all "
            "numbers above 0 and at most 1, got None"
        )
        raise ValueError(message)
    return budget, seconds


def refuse_small_budget(
    budget: float | None, n_arms: int, n_coordinates: int, method: Method
) -> None:
    """Raise an error if a method that must spend its budget cannot do so with this one."""
    if method.fewest_pulls is None or budget is None:
        return
    numbers, fewest = int(budget * n_arms * n_coordinates), method.fewest_pulls(n_arms)
    if numbers < fewest:
        message = (
            f"method={method.name!r} needs a budget of at least {fewest} pulls for {n_arms} arms, "
            f"got budget={budget:g}, which is {numbers} pulls"
        )
        raise ValueError(message)


def block_length(block: Any, method: Method) -> int | None:
    """Return how many coordinates are to be read together; None if that is left to the library."""
    if block is None:
        return None
    size = whole_number(block, "block", 1)
    if method.single_coordinates and size != 1:
        raise ValueError(f"method={method.name!r} pulls single coordinates, got block={size}")
    return size


def _those(which: Callable[[Method], bool]) -> str:
    """Return the names of the methods that a message recommends."""
    return listed(method.name for method in METHODS.values() if which(method))
