"""Scales a query so that its squares are numbers of float64."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot.query_sizes import QuerySizes

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Floats

# The largest value of a query, as a power of two, is at most this, and at least one over it.
QUERY_EXPONENT = 300
SMALLEST_IN_RANGE = 2.0 ** (-QUERY_EXPONENT - 1)
LARGEST_IN_RANGE = math.nextafter(2.0**QUERY_EXPONENT, 0)


def in_range(query: Floats, *, exactly: bool) -> tuple[Floats, float]:
    """Return the query over a power of two, and that power: 1 for nearly all queries.

    Inner products are in proportion to the query. One whose squares would be too large or too small for
    float64 is scaled just as far as to have squares. If that would make its smallest numbers vanish, it is scaled
    only if it need not be done `exactly`: without squares fewer bets can be placed, but no score is lost.
    """
    largest = max(-float(query.min()), float(query.max()))
    exponent = math.frexp(largest)[1]
    beyond = exponent - min(max(exponent, -QUERY_EXPONENT), QUERY_EXPONENT)
    if beyond == 0 or largest == 0:
        return query, 1.0
    scaled = np.ldexp(query, -beyond)
    if exactly and not np.array_equal(np.ldexp(scaled, beyond), query):
        return query, 1.0
    return scaled, math.ldexp(1.0, beyond)


def all_in_range(queries: Floats, team: Team, *, exactly: bool) -> tuple[Floats, Floats | None]:
    """Return the same of several queries, one row each; None if every power is 1."""
    sizes = QuerySizes.of(queries, team)
    if sizes.within(SMALLEST_IN_RANGE, LARGEST_IN_RANGE):
        return queries, None
    largest = sizes.largest
    exponents = np.frexp(largest)[1]
    beyond = exponents - np.clip(exponents, -QUERY_EXPONENT, QUERY_EXPONENT)
    beyond[largest == 0] = 0
    if not beyond.any():
        return queries, None
    scaled = np.ldexp(queries, -beyond[:, None])
    if exactly:
        beyond[(np.ldexp(scaled, beyond[:, None]) != queries).any(axis=1)] = 0
    return np.ldexp(queries, -beyond[:, None]), np.ldexp(1.0, beyond)
