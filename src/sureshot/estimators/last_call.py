"""What the last call of an estimator promised."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sureshot


@dataclass
class LastCall:
    """The results of a call, and how their losses become losses in distances: ``factor * loss ** (1 / power)``.

    An estimator holds one and the same `LastCall` from its fit on: scikit-learn asks that predicting leaves
    its attributes as they are.
    """

    results: Sequence[sureshot.TopK] = ()
    power: int = 1
    factor: float = 1.0

    def certificates(self) -> tuple[sureshot.Certificate, ...]:
        """Return the certificate of each query, with its loss in distances."""
        every = (query.certificate for result in self.results for query in result.queries)
        return tuple(
            replace(one, epsilon=self.factor * one.epsilon ** (1 / self.power)) for one in every
        )
