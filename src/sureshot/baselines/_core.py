"""The only way from the baselines to the inside of the library: checks of arguments, exact scores.

No other module of this package imports anything of the library but types, and ``tests/test_layout.py``
keeps it so: a change inside the library is followed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot._native import Team
from sureshot._validate.baseline import fit_request, query_request
from sureshot._validate.numbers import share_or_count, whole_number, whole_number_within
from sureshot._validate.running import drawn_seed
from sureshot.blocks import Blocks
from sureshot.search.problem import largest
from sureshot.sources import dense

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints

__all__ = [
    "drawn_seed",
    "exact_scores",
    "fit_request",
    "largest",
    "query_request",
    "row_norms",
    "share_or_count",
    "whole_number",
    "whole_number_within",
]


def exact_scores(data: Array, query: Floats, rows: Ints, threads: int) -> Floats:
    """Return the inner products of a query with some rows, summed in float64."""
    source = dense.DenseSource(data, query, "ip", Blocks(data.shape[1]), Team(threads))
    return source.exact_scores(rows)


def row_norms(data: Array, threads: int) -> Floats:
    """Return the Euclidean norm of each row: one pass, which refuses what is not finite."""
    return dense.row_norms(data, np.arange(len(data)), Team(threads))
