"""The distances that the estimators know, and how the scores of a search become distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Metric:
    """A distance, as a search by another score.

    Attributes
    ----------
    name
        What ``effective_metric_`` says.
    searched
        The metric of `sureshot.top_k`.
    distances
        Makes distances of its scores.
    power
        The scores are this power of distances. A power of at most dᵖ + eᵖ belongs to a distance of at most d + e, so
        that a loss e is promised by a search with the loss eᵖ.
    own_nearest
        Whether no row is nearer to a row than that row itself.
    """

    name: str
    searched: str
    distances: Callable[[Floats], Floats]
    power: int = 1
    own_nearest: bool = True


def _same(scores: Floats) -> Floats:
    return scores.copy()


EUCLIDEAN = Metric("euclidean", "sqeuclidean", np.sqrt, power=2)
MANHATTAN = Metric("manhattan", "l1", _same)
METRICS = {
    "euclidean": EUCLIDEAN,
    "l2": EUCLIDEAN,
    "sqeuclidean": Metric("sqeuclidean", "sqeuclidean", _same),
    "manhattan": MANHATTAN,
    "l1": MANHATTAN,
    "cityblock": MANHATTAN,
    # Not below 0 for rows of one direction, whose cosine may be rounded up.
    "cosine": Metric("cosine", "cosine", lambda cosines: np.maximum(1 - cosines, 0)),
    "negative_inner_product": Metric(
        "negative_inner_product", "ip", np.negative, own_nearest=False
    ),
}


def known_metric(name: Any) -> Metric:
    """Return the metric of this name."""
    if not isinstance(name, str) or name not in METRICS:
        message = f"metric must be one of {', '.join(map(repr, METRICS))}; got {name!r}"
        if name in ("ip", "inner_product", "dot"):
            message += "; negative_inner_product is the inner product times -1, smallest first"
        raise ValueError(message)
    return METRICS[name]
