"""Random projections of gradients, and what they lose of the true top k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from sureshot import TopK
    from sureshot._types import Array, Floats
    from sureshot.attribution.store import Store

# Columns whose random numbers are made at once, and rows that are multiplied by them.
COLUMNS = 4096
ROWS = 2048


class GaussianProjection:
    """Multiplies gradients by a matrix of independent Gaussian numbers, which is never held as a whole.

    Inner products stay the same on average.

    Parameters
    ----------
    width
        Numbers of a gradient.
    dimensions
        Numbers of its projection.
    seed
        Of the matrix: the same seed gives the same matrix.

    Examples
    --------
    >>> import numpy as np
    >>> projection = GaussianProjection(width=5000, dimensions=400)
    >>> one = projection.apply(np.ones((1, 5000)))
    >>> one.shape, bool(abs(one[0] @ one[0] / 5000 - 1) < 0.3)
    ((1, 400), True)
    """

    def __init__(self, width: int, dimensions: int, seed: int = 0) -> None:
        if width < 1 or dimensions < 1:
            raise ValueError(f"width and dimensions must be above 0, got {width}, {dimensions}")
        self.width, self.dimensions, self.seed = width, dimensions, seed

    def apply(self, gradients: Store | npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Return the projections of the rows of a store, or of an array, in float32."""
        parts = _parts(gradients)
        projected = np.zeros((sum(map(len, parts)), self.dimensions), dtype=np.float32)
        for part in parts:
            if part.ndim != 2 or part.shape[1] != self.width:
                raise ValueError(f"gradients must have {self.width:,} columns, got {part.shape}")
        for number, start in enumerate(range(0, self.width, COLUMNS)):
            columns = slice(start, min(start + COLUMNS, self.width))
            matrix = self._matrix(number, columns.stop - columns.start)
            first = 0
            for part in parts:
                for top in range(0, len(part), ROWS):
                    some = part[top : top + ROWS, columns].astype(np.float32)
                    projected[first : first + len(some)] += some @ matrix
                    first += len(some)
        return projected

    def _matrix(self, number: int, rows: int) -> npt.NDArray[np.float32]:
        generator = np.random.default_rng([self.seed, number])
        matrix = generator.standard_normal((rows, self.dimensions), dtype=np.float32)
        matrix *= np.float32(self.dimensions**-0.5)
        return matrix


@dataclass(frozen=True)
class ProjectionQuality:
    """What a projection keeps of the true top k.

    Attributes
    ----------
    kept
        For each query the part of its true top k that is among the best `shortlist` projections.
    shortlist
        How many of the best projections were looked at.
    truth
        The true top k, with its certificate.
    """

    kept: Floats
    shortlist: int
    truth: TopK

    @property
    def mean(self) -> float:
        """The mean of `kept` over the queries."""
        return float(self.kept.mean())


def judge_projection(
    store: Store,
    queries: npt.ArrayLike,
    projected: Store | npt.ArrayLike,
    projected_queries: npt.ArrayLike,
    k: int = 10,
    *,
    shortlist: int | None = None,
    unit_norm: bool = False,
    reverse: bool = False,
    **options: Any,
) -> ProjectionQuality:
    """Return which part of the true top k of each query its projection finds.

    Parameters
    ----------
    store, queries
        The unprojected gradients, as in `Store.top_k`.
    projected, projected_queries
        The same rows and queries, projected: by any projection, as an array or a store.
    k
        How many rows count as the top.
    shortlist
        How many of the best projections are looked at, `k` by default. A longer one says whether the
        projection could propose candidates for the full gradients to decide on.
    unit_norm
        Whether directions are compared, of full gradients as well as of projections.
    reverse
        Whether the smallest ones count as the top.
    **options
        Other options of `Store.top_k`, such as ``delta``.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from sureshot.attribution import open_store
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "gradients.npy"
    >>> rng = np.random.default_rng(0)
    >>> gradients = rng.standard_normal((200, 5)) @ rng.standard_normal((5, 3000))
    >>> np.save(file, gradients)
    >>> projection = GaussianProjection(3000, 300)
    >>> judged = judge_projection(
    ...     open_store(file), gradients[:3], projection.apply(gradients), projection.apply(gradients[:3])
    ... )
    >>> judged.kept.shape, judged.mean > 0.5
    ((3,), True)
    """
    shortlist = k if shortlist is None else shortlist
    if not k <= shortlist <= len(store):
        raise ValueError(f"shortlist must be from k to the number of rows, got {shortlist}")
    rows = np.concatenate([np.asarray(part, dtype=np.float32) for part in _parts(projected)])
    if len(rows) != len(store):
        raise ValueError(f"projected must have {len(store):,} rows as the store, got {len(rows):,}")
    asked = np.atleast_2d(np.asarray(projected_queries, dtype=np.float32))
    if unit_norm:
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(lengths > 0, lengths, 1)
    options |= {"unit_norm": unit_norm, "reverse": reverse}
    truth = store.top_k(np.atleast_2d(np.asarray(queries)), k, **options)
    if len(asked) != len(truth.scores) or asked.shape[1] != rows.shape[1]:
        raise ValueError(
            f"projected_queries must have shape {(len(truth.scores), rows.shape[1])}, got {asked.shape}"
        )
    scores = asked @ rows.T
    best = np.argpartition(scores if reverse else -scores, shortlist - 1, axis=1)[:, :shortlist]
    kept = np.array(
        [np.isin(true, found).mean() for true, found in zip(truth.indices, best, strict=True)]
    )
    return ProjectionQuality(kept, shortlist, truth)


def _parts(gradients: Store | npt.ArrayLike) -> tuple[Array, ...]:
    parts = getattr(gradients, "parts", None)
    return parts if isinstance(parts, tuple) else (np.asarray(gradients),)
