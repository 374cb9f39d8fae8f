"""Stored gradients, and the search for those that a query has most, or least, in common with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot.attribution import norms as kept_norms
from sureshot.attribution.merging import negated, of_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import numpy.typing as npt

    from sureshot._types import Array, Floats, Ints
    from sureshot.attribution.columns import Modules
    from sureshot.attribution.norms import Norms
    from sureshot.attribution.parts import Layout

METHODS = ("betting", "exact")


class Store:
    """One gradient per row, in one file or several; `open_store` makes it.

    Attributes
    ----------
    shape
        Rows and columns.
    dtype
        The element type.
    format
        ``"bergson"``, ``"trak"``, ``"dattri"`` or ``"npy"``.
    modules
        Which columns belong to which module: ``modules.names``, ``modules.span(name)``.
    examples
        The number of the training example of each row. Where each token has a row, several rows are those
        of one example.
    """

    def __init__(self, layout: Layout, kept: Path) -> None:
        self._layout, self._kept = layout, kept
        self._norms: Norms | None = None
        self.format = layout.format
        self.modules: Modules = layout.modules
        self.dtype: np.dtype[Any] = layout.parts[0].rows.dtype
        rows = sum(len(part.rows) for part in layout.parts)
        self.shape = (rows, layout.modules.width)
        self.examples: Ints = np.arange(rows) if layout.examples is None else layout.examples

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        names = len(self.modules.names)
        return (
            f"Store({len(self):,} rows of {self.shape[1]:,} {self.dtype.name} numbers, "
            f"{names} module{'s' * (names > 1)}, {self.format})"
        )

    @property
    def parts(self) -> tuple[Array, ...]:
        """The rows of each file, as memory maps."""
        return tuple(part.rows for part in self._layout.parts)

    def norms(self, modules: str | Iterable[str] | None = None) -> Floats | None:
        """Return the norm of each row over some modules, or None if none were computed.

        Norms of data that has changed since raise `StoreError`.
        """
        selection = self.modules.select(modules)
        self._load_norms()
        return None if self._norms is None else self._norms.of(selection.chosen)

    def compute_norms(
        self, *, progress: Callable[[int, int], object] | None = None, again: bool = False
    ) -> Floats:
        """Return the norms of the rows; the first time the store is read, and they are kept beside it.

        Parameters
        ----------
        progress
            Called with the number of rows done and of all rows.
        again
            Whether norms that are kept already are computed again.
        """
        if not again:
            self._load_norms()
        if self._norms is None or again:
            self._norms = kept_norms.compute(self._layout, self._kept, progress)
        return self._norms.of(self.modules.select(None).chosen)

    def _load_norms(self) -> None:
        if self._norms is None:
            self._norms = kept_norms.load(self._layout, self._kept)

    def top_k(
        self,
        queries: npt.ArrayLike,
        k: int = 10,
        *,
        modules: str | Iterable[str] | None = None,
        unit_norm: bool = False,
        reverse: bool = False,
        row_scale: npt.ArrayLike | None = None,
        epsilon: float = 0.0,
        delta: float = 0.05,
        where: npt.ArrayLike | None = None,
        method: str = "betting",
        rng: int | np.random.Generator | None = None,
        threads: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> sureshot.TopK:
        """Find the k rows with the largest inner product with each query, with a certificate.

        Once the norms of the rows are known (`compute_norms`, one pass over the store), the guarantee is
        unconditional as long as the data is what they were computed from. Without them the certificate states
        the limit that it assumes.

        Parameters
        ----------
        queries
            A gradient, or one per row. Of all columns of the store, or of the chosen modules only.
        k
            How many rows to return.
        modules
            Compare these modules only; a name stands for all modules that begin with it and a dot. The
            search reads the columns from the first to the last of them, and there only the chosen ones
            until a row is read as a whole.
        unit_norm
            Compare directions: both gradients are divided by their norms, over the chosen modules. Reads the
            store once for its norms, unless they are kept beside it. A row of zeros has the score 0.
        reverse
            Find the smallest (most negative) ones instead, smallest first.
        row_scale
            A known factor of each row, above 0.
        epsilon, delta, where, method, rng, threads
            As in `sureshot.top_k`, ``method`` being ``"betting"`` or ``"exact"``. With several files each
            is searched with an equal part of `delta`.
        progress
            Called with the number of rows done and of all rows if norms must be computed.

        Returns
        -------
        sureshot.TopK
            Its indices are rows of the store; ``store.examples[indices]`` are the examples.
        """
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
        if not 0 < delta < 1:  # here, because the parts of a store share it
            raise ValueError(f"delta must be above 0 and below 1, got {delta}")
        selection = self.modules.select(modules)
        asked = selection.cut(queries)
        factors = self._checked_row_scale(row_scale)
        if unit_norm:
            asked = _directions(asked)
            self.compute_norms(progress=progress)
        self._load_norms()
        limits = None if self._norms is None else self._norms.of(selection.spanned)
        if unit_norm and self._norms is not None:
            lengths = self._norms.of(selection.chosen)
            inverse = 1 / np.where(lengths > 0, lengths, 1.0)
            factors = inverse if factors is None else factors * inverse
        searched = list(self._searched(where, k))
        columns = slice(selection.start, selection.stop)
        generator = np.random.default_rng(rng)
        found = []
        for first, rows, chosen in searched:
            some = slice(first, first + len(rows))
            found.append(
                sureshot.top_k(
                    rows[:, columns],
                    -asked if reverse else asked,
                    min(k, len(rows) if chosen is None else len(chosen)),
                    bounds=None if limits is None else sureshot.Bounds(norms=limits[some]),
                    row_scale=None if factors is None else factors[some],
                    epsilon=epsilon,
                    delta=delta / len(searched),
                    where=chosen,
                    method=method,
                    rng=generator,
                    threads=threads,
                )
            )
        result = found[0]
        if len(self.parts) > 1:
            counts = [len(rows) if chosen is None else len(chosen) for _, rows, chosen in searched]
            numbers = sum(counts) * (columns.stop - columns.start)
            result = of_parts(found, [first for first, _, _ in searched], numbers, k)
        return negated(result) if reverse else result

    def _checked_row_scale(self, row_scale: npt.ArrayLike | None) -> Floats | None:
        if row_scale is None:
            return None
        factors = np.asarray(row_scale, dtype=np.float64)
        if factors.shape != (len(self),):
            message = (
                f"row_scale must have one factor for each of the {len(self):,} rows, got shape "
                f"{factors.shape}"
            )
            raise ValueError(message)
        return factors

    def _searched(
        self, where: npt.ArrayLike | None, k: int
    ) -> Iterator[tuple[int, Array, Ints | None]]:
        """Yield the parts with rows to search: their first row, all their rows, and which of them."""
        chosen = None if where is None else self._chosen_rows(where)
        count = len(self) if chosen is None else len(chosen)
        if k > count:
            raise ValueError(f"k must be at most the number of searched rows, {count:,}, got {k}")
        first = 0
        for rows in self.parts:
            last = first + len(rows)
            if chosen is None:
                yield first, rows, None
            else:
                here = chosen[(chosen >= first) & (chosen < last)] - first
                if len(here):
                    yield first, rows, here
            first = last

    def _chosen_rows(self, where: npt.ArrayLike) -> Ints:
        given = np.asarray(where)
        if given.dtype == np.bool_:
            if given.shape != (len(self),):
                message = f"where as a mask must have {len(self):,} entries, got {given.shape}"
                raise ValueError(message)
            return np.flatnonzero(given)
        if given.ndim != 1 or given.dtype.kind not in "iu" or len(given) == 0:
            raise ValueError("where must be a mask of the rows or an array of their numbers")
        if given.min() < 0 or given.max() >= len(self):
            message = f"where must hold rows from 0 to {len(self) - 1}, got {given.max()}"
            raise ValueError(message)
        return given.astype(np.int64)


def _directions(queries: Array) -> Floats:
    """Return queries divided by their norms."""
    values = queries.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("queries must be finite, got NaN or infinite values")
    largest = np.abs(values).max(axis=-1, keepdims=True)
    if not (largest > 0).all():
        raise ValueError("unit_norm needs queries that are not all zeros in the chosen modules")
    values /= largest  # so that no square overflows
    directions: Floats = values / np.sqrt(np.square(values).sum(axis=-1, keepdims=True))
    return directions
