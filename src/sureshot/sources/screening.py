"""A query in float32, for a screen, and what is asked of the arms that it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sureshot import _native

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints


class RoundedQuery(NamedTuple):
    """A query as a screen reads it, and what the errors of its scores follow from."""

    values: Array  # float32
    norm: float  # the Euclidean norm of the query, for inner products
    rounding: float  # the norm of what the query loses in float32; for "l1" the sum of it
    unit: float  # what the query was divided by, a power of two


def rounded_float(reward: str, query: Array) -> RoundedQuery | None:
    """Return a query of float32 that is screened as it is; None if products with it may be too large or too small."""
    norm = _native.norm_if_usual(query) if reward == "ip" else 0.0
    return None if norm is None else RoundedQuery(query, norm, 0.0, 1.0)


class Wanted(NamedTuple):
    """The k best arms by ``scale * score``, of scores that are off by a bounded error.

    That is at most ``fixed + of_root * sqrt(m) + of_score * |score|``, where m is the screened squared norm of the
    row for inner products, and the size of the score for distances.
    """

    k: int
    best: Floats  # the scores of the best arms so far, at most k
    first: int  # arms after which it is first decided whether to go on
    share: float  # of the arms that were screened, which may be left at most
    scale: Floats | None  # of each arm; None: 1 for each
    absolute: bool  # whether absolute values are ranked
    fixed: float
    of_root: float
    of_score: float


class ScreenedBest(NamedTuple):
    """The arms that a screen leaves, by position, and their scores as they are ranked."""

    screened: int  # arms, until too many were left or all were screened
    too_many: bool  # were left, and none of them is evaluated
    positions: Ints
    scores: Floats
    trusted: bool  # or a score is not finite, or a row has not the norm that it is said to have
