"""What every baseline does, what it returns, and what all of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from sureshot.baselines.rows import Rows

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints


@dataclass(frozen=True, slots=True)
class Found:
    """What a query found, and what it cost.

    Attributes
    ----------
    indices
        At most k rows, none of them twice, best first by exact score (by its absolute value where a
        method searches for squares), ties by the smaller index. Fewer than k if the method had fewer
        candidates.
    scores
        Their inner products with the query, summed in float64.
    candidates
        Rows whose exact score was computed.
    numbers_read
        Numbers read to answer: of the data, N for each candidate included, and of what `fit` made
        of them (sorted lists, projections, centroids). It may exceed n N, where a method reads its
        index and then everything.
    """

    indices: Ints
    scores: Floats
    candidates: int
    numbers_read: int


class Baseline(Protocol):
    """Another way to the rows with the largest inner products: prepare once, then ask.

    The knobs of a query are keyword arguments under the names of the paper. None of these methods
    knows how good its answer is.
    """

    name: ClassVar[str]

    def fit(self, data: Array) -> Self:
        """Prepare for queries. The data, (n, N) of float32 or float64, is kept and not copied."""
        ...

    # The unnamed arguments tell the type checker that the knobs are each method's own.
    def query(self, query: Array, k: int, *_: Any, **knobs: Any) -> Found:
        """Return at most k rows, those of the candidates with the largest inner products."""
        ...


class Method(ABC):
    """The part that all baselines share: what they keep of the data, and how they rank candidates.

    Parameters
    ----------
    threads
        Threads that compute exact scores; all there are if None. The matrix products of numpy,
        scipy and scikit-learn have threads of their own.
    """

    def __init__(self, *, threads: int | None = None) -> None:
        self.threads = threads
        self._rows: Rows | None = None

    @property
    def rows(self) -> Rows:
        """The data that was fitted."""
        if self._rows is None:
            raise RuntimeError(f"{type(self).__name__}: fit(data) must come before query")
        return self._rows

    def fit(self, data: Array) -> Self:
        """Prepare for queries. The data is kept and not copied; a fit that fails leaves nothing behind.

        Parameters
        ----------
        data
            (n, N) of float32 or float64.
        """
        self._rows = None
        rows = Rows(data, self.threads)
        self._prepare(rows)
        self._rows = rows
        return self

    @abstractmethod
    def _prepare(self, rows: Rows) -> None:
        """Make of the data what the queries need."""

    def _best(
        self, query: Floats, candidates: Ints, k: int, read: int, *, squares: bool = False
    ) -> Found:
        """Rank the candidates exactly: the last step of every `query`.

        `read` is what was read to find them, `squares` ranks by the square of the inner product.
        """
        indices, scores = self.rows.best(query, candidates, k, squares=squares)
        read += len(candidates) * self.rows.width
        return Found(indices, scores, candidates=len(candidates), numbers_read=read)


def needed(module: str, package: str, user: str, install: str) -> Any:
    """Import a module that is not always there, or say what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{user} needs {package}: pip install {install}") from error
