"""What a store is made of: files of rows, the modules of their columns, the examples of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array, Ints
    from sureshot.attribution.columns import Modules


@dataclass(frozen=True)
class Part:
    """One file of a store: some of its rows, mapped into memory."""

    file: Path
    rows: Array


@dataclass(frozen=True)
class Layout:
    """All files of a store, as a reader of its format has found them."""

    format: str
    parts: tuple[Part, ...]
    modules: Modules
    examples: Ints | None  # the number of the example of each row; None: row i is example i
    norms: Path  # where the norms of the rows are kept, without the ending
