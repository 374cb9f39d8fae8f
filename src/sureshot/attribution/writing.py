"""Writes a store row by row, in the format of bergson; goes on where an interruption has stopped it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from sureshot._files import replace_file
from sureshot.attribution.columns import Modules
from sureshot.attribution.errors import StoreError
from sureshot.attribution.formats.bergson import DATA, INFO, PARTIAL
from sureshot.attribution.maps import dtype_named, read_json
from sureshot.attribution.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from sureshot._types import Array
    from sureshot.attribution.store import Store

# What is known of an unfinished store: how many rows it has, and of what.
STATE = "written.json"
# Seconds between two notes of how far the writing has come: a note waits for the disk.
NOTE_EVERY = 2.0


class StoreWriter:
    """Appends rows to a new store; use it with ``with``.

    The rows are written to a folder whose name ends with ``.part``; it gets its name when all rows are there. The
    same call for the same data goes on after an interruption: `written` says how many rows are there.

    Parameters
    ----------
    path
        The folder to make. There must be none.
    rows
        How many rows the store will have.
    modules
        How many columns each module has, in their order.
    dtype
        ``"bfloat16"``, ``"float16"``, ``"float32"`` or ``"float64"``.
    about
        What the rows are made of, such as a digest of the model: the rest of an unfinished store is only
        added to one with the same words.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from sureshot.attribution import open_store
    >>> path = tempfile.mkdtemp() + "/gradients"
    >>> with StoreWriter(path, rows=4, modules={"first": 3, "second": 2}, dtype="float32") as writer:
    ...     while writer.written < 4:
    ...         writer.append(np.ones((2, 5)))
    >>> open_store(path)
    Store(4 rows of 5 float32 numbers, 2 modules, bergson)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        rows: int,
        modules: Mapping[str, int],
        dtype: str = "bfloat16",
        about: str = "",
    ) -> None:
        self.path = Path(path)
        self.rows, self.dtype = rows, dtype_named(dtype)
        self.width = Modules(modules).width
        if rows < 1:
            raise ValueError(f"rows must be at least 1, got {rows}")
        if self.path.exists():
            raise FileExistsError(f"{self.path} is there already: remove it or take another name")
        self._folder = self.path.with_name(self.path.name + PARTIAL)
        self._info: dict[str, Any] = {
            "attribute_tokens": False,
            "num_items": rows,
            "num_grads": rows,
            "grad_sizes": dict(modules),
            "base_dtype": self.dtype.name,
        }
        self._about = about
        self._file: IO[bytes] | None = None
        self._noted = 0.0
        self.written = 0

    def __enter__(self) -> Self:
        """Make the folder, or take up the one that an interruption has left."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if (self._folder / STATE).exists():
            self._take_up()
        else:
            content = json.dumps(self._info, indent=2).encode()
            replace_file(self._folder / INFO, lambda file: file.write(content))
            (self._folder / DATA).touch()
        self._file = (self._folder / DATA).open("r+b")
        self._file.seek(self.written * self.width * self.dtype.itemsize)
        self._file.truncate()
        self._note()
        return self

    def store(self) -> Store:
        """Open the store, once all rows are there."""
        return open_store(self.path)

    def append(self, rows: Array) -> None:
        """Write some rows; they must be finite in the type of the store."""
        assert self._file is not None, "use the writer with a with statement"
        if rows.ndim != 2 or rows.shape[1] != self.width:
            message = f"rows must have {self.width:,} columns, got shape {rows.shape}"
            raise ValueError(message)
        if self.written + len(rows) > self.rows:
            message = f"the store has {self.rows:,} rows, got {self.written + len(rows):,}"
            raise ValueError(message)
        with np.errstate(over="ignore"):
            stored = np.ascontiguousarray(rows, dtype=self.dtype)
        finite = np.isfinite(stored.astype(np.float32, copy=False)).all(axis=1)
        if not finite.all():
            row = self.written + int(np.argmin(finite))
            message = f"row {row} holds values that are not finite, or too large for {self.dtype}"
            raise StoreError(message)
        self._file.write(stored.view(np.uint8).data)
        self.written += len(rows)
        if time.monotonic() - self._noted > NOTE_EVERY:
            self._note()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._file is not None, "the writer has begun"
        self._note()
        self._file.close()
        if kind is None and self.written == self.rows:
            (self._folder / STATE).unlink()
            self._folder.rename(self.path)
        elif kind is None:
            raise StoreError(
                f"{self._folder} has {self.written:,} of {self.rows:,} rows: the same call goes on with it"
            )

    def _note(self) -> None:
        """Note how many rows are surely there."""
        assert self._file is not None, "the writer has begun"
        self._file.flush()
        os.fsync(self._file.fileno())
        state = {"rows": self.written, "about": self._about}
        replace_file(self._folder / STATE, lambda file: file.write(json.dumps(state).encode()))
        self._noted = time.monotonic()

    def _take_up(self) -> None:
        info, state = read_json(self._folder / INFO), read_json(self._folder / STATE)
        if info != self._info or state.get("about") != self._about:
            raise StoreError(
                f"{self._folder} was begun for other data, modules or another type: remove it, or take "
                "another name"
            )
        self.written = int(state["rows"])
        there = (self._folder / DATA).stat().st_size
        if there < self.written * self.width * self.dtype.itemsize:
            raise StoreError(f"{self._folder / DATA} is cut off: remove the folder and begin again")
