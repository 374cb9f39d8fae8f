"""Rows of results: one JSON object per line, with what is needed to repeat the measurement."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import sureshot
from sureshot import _native

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Case = TypeVar("Case", bound=DataclassInstance)

Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    """Return all rows of a file; none if there is no such file.

    A line that an interruption cut short is left out.
    """
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def append(path: Path, row: Row) -> None:
    """Write one more row to the end of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        # After a line that was cut short, start a new one.
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps(row).encode() + b"\n")


def missing(wanted: list[Case], path: Path) -> list[Case]:
    """Return the cases without a row in the file: a row holds the fields of its case."""
    there = read(path)
    return [case for case in wanted if not any(_of_case(row, asdict(case)) for row in there)]


def _of_case(row: Row, fields: Row) -> bool:
    return all(name in row and row[name] == value for name, value in fields.items())


def environment() -> Row:
    """Return the versions and the machine that a row was measured with."""
    return {
        "library": sureshot.__version__,
        "library_digest": _library_digest(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "cpu": _cpu_name(),
        "threads": available_threads(),
    }


def available_threads() -> int:
    """Return how many threads `sureshot.top_k` uses by default."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _library_digest() -> str:
    """Return a digest of what searches: between releases the version says little."""
    folder = Path(sureshot.__file__).parent
    searching = [path for path in sorted(folder.rglob("*.py")) if "cli" not in path.parts]
    digest = hashlib.sha256()
    for path in (*searching, Path(str(_native.__file__))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


class PeakMemory:
    """How much the resident memory grew at most since `start`; None where Linux's /proc is not."""

    def start(self) -> None:
        """Forget earlier peaks, and memory that was freed but is still held."""
        self._before: int | None = None
        try:
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            self._before = _status("VmRSS")
        except (OSError, AttributeError):
            pass

    def growth(self) -> int | None:
        """Return the growth in bytes."""
        return None if self._before is None else _status("VmHWM") - self._before


def _status(key: str) -> int:
    """Return a number of bytes that Linux knows of this process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition(f"{key}:")[2].split()[0]) << 10
