"""Which columns of a store belong to which module of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot.attribution.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from sureshot._types import Array, Bools, Ints


class Modules:
    """Modules side by side: names, and how many columns each has, in their order.

    Examples
    --------
    >>> modules = Modules({"conv.weight": 4, "conv.bias": 2, "head": 3})
    >>> modules.span("conv.bias"), modules.width
    ((4, 6), 9)
    >>> modules.select(["conv"]).start, modules.select(["conv"]).stop
    (0, 6)
    """

    def __init__(self, widths: Mapping[str, int]) -> None:
        for name, width in widths.items():
            if type(width) is not int or width < 1:
                raise StoreError(f"module {name!r}: expected at least one column, got {width!r}")
        self.widths = dict(widths)
        self.ends: Ints = np.cumsum(list(self.widths.values()), dtype=np.int64)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the modules, in the order of their columns."""
        return tuple(self.widths)

    @property
    def width(self) -> int:
        """How many columns all modules have together."""
        return int(self.ends[-1])

    def span(self, name: str) -> tuple[int, int]:
        """Return the first column of a module, and the one after its last."""
        stop = int(self.ends[self.names.index(name)])
        return stop - self.widths[name], stop

    def select(self, modules: str | Iterable[str] | None) -> Selection:
        """Return the columns of these modules; a name stands for all that begin with it and a dot."""
        if modules is None:
            return Selection(self, np.ones(len(self.widths), dtype=np.bool_))
        wanted = [modules] if isinstance(modules, str) else list(modules)
        if not wanted:
            raise ValueError("modules must name at least one module, got none")
        chosen = np.zeros(len(self.widths), dtype=np.bool_)
        for name in wanted:
            named = [one == name or one.startswith(f"{name}.") for one in self.names]
            if not any(named):
                known = ", ".join(self.names[:20]) + (", …" if len(self.names) > 20 else "")
                raise ValueError(f"modules must be some of {known}; got {name!r}")
            chosen |= named
        return Selection(self, chosen)


@dataclass(frozen=True)
class Selection:
    """Some of the modules of a store: which columns a search reads."""

    modules: Modules
    chosen: Bools  # one entry per module

    @property
    def start(self) -> int:
        """The first column of the first chosen module."""
        first = int(np.flatnonzero(self.chosen)[0])
        return int(self.modules.ends[first]) - list(self.modules.widths.values())[first]

    @property
    def stop(self) -> int:
        """The column after the last chosen module."""
        return int(self.modules.ends[np.flatnonzero(self.chosen)[-1]])

    @property
    def spanned(self) -> Bools:
        """Which modules lie between `start` and `stop`."""
        chosen = np.flatnonzero(self.chosen)
        between: Bools = np.zeros_like(self.chosen)
        between[chosen[0] : chosen[-1] + 1] = True
        return between

    @property
    def columns(self) -> Bools:
        """Which columns of the store are chosen."""
        return np.repeat(self.chosen, list(self.modules.widths.values()))

    def cut(self, queries: npt.ArrayLike) -> Array:
        """Return queries over the columns from `start` to `stop`, 0 between the chosen modules.

        They have all columns of the store, or those of the chosen modules only.
        """
        given = np.asarray(queries)
        columns = self.columns
        width, chosen = len(columns), int(columns.sum())
        if given.ndim not in (1, 2) or given.shape[-1] not in (width, chosen):
            wanted = f"{width:,} columns" if chosen == width else f"{width:,} or {chosen:,} columns"
            raise ValueError(
                f"queries must have {wanted}, as the store or the chosen modules have, in 1 or 2 "
                f"dimensions; got shape {given.shape}"
            )
        inside = columns[self.start : self.stop]
        if given.shape[-1] == width:
            cut = given[..., self.start : self.stop]
            return cut if inside.all() else np.where(inside, cut, given.dtype.type(0))
        if inside.all():
            return given
        spread = np.zeros((*given.shape[:-1], len(inside)), dtype=given.dtype)
        spread[..., inside] = given
        return spread
