"""Rows of results: one JSON object per line, with what is needed to repeat the measurement.

What one row measures is a case: a dataclass whose fields are part of the row. Equal cases are measured
once, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import sureshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _typeshed import DataclassInstance

    Case = TypeVar("Case", bound=DataclassInstance)

Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    """Return all rows of a file, none if there is no such file.

    A line that an interruption cut short is left out.
    """
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def append(path: Path, row: Row) -> None:
    """Write one more row to the end of a file, on a line of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps(row).encode() + b"\n")


def write(path: Path, found: Iterable[Row]) -> None:
    """Write a file of these rows and no others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")


def curve(row: Row) -> str:
    """Return to which curve of a figure a row belongs: its method, apart from the searches with a budget.

    Examples
    --------
    >>> curve({"method": "betting", "knobs": [["budget", 0.1]]})
    'betting, budget'
    """
    method: str = row["method"]
    return f"{method}, budget" if "budget" in dict(row.get("knobs", ())) else method


def missing(wanted: Sequence[Case], there: Iterable[Row]) -> list[Case]:
    """Return the cases without a row: a row holds the fields of its case.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Coin:
    ...     side: str
    >>> missing([Coin("head"), Coin("tail")], [{"side": "head", "pulls": 3}])
    [Coin(side='tail')]
    """
    found = _by_case(wanted, there)
    return [case for case in wanted if _key(asdict(case)) not in found]


def belonging(wanted: Sequence[Case], there: Iterable[Row]) -> list[Row]:
    """Return the rows of these cases, in the order of the cases, the newest for each.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Coin:
    ...     side: str
    >>> belonging([Coin("head"), Coin("tail")], [{"side": "edge"}, {"side": "head", "pulls": 3}])
    [{'side': 'head', 'pulls': 3}]
    """
    found = _by_case(wanted, there)
    keys = [_key(asdict(case)) for case in wanted]
    return [found[key] for key in keys if key in found]


def _by_case(wanted: Sequence[Case], there: Iterable[Row]) -> dict[str, Row]:
    """Return the newest row for each case; a row that lacks a field of the cases belongs to none."""
    names = [field.name for field in fields(wanted[0])] if wanted else []
    return {
        _key({name: row[name] for name in names}): row
        for row in there
        if all(name in row for name in names)
    }


def _key(case: Row) -> str:
    return json.dumps(list(case.values()))


def environment() -> Row:
    """Return the versions and the machine that a row was measured with."""
    return {
        "library": sureshot.__version__,
        "commit": _commit(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "cpu": _cpu_name(),
    }


@cache
def _commit() -> str:
    """Return the commit of this code if it runs in a checkout of it, else an empty string."""
    command = ["git", "-C", str(Path(__file__).parent)]
    try:
        # The folder may lie in another repository.
        tracked = [*command, "ls-files", "--error-unmatch", Path(__file__).name]
        subprocess.run(tracked, capture_output=True, check=True)
        described = [*command, "describe", "--always", "--dirty", "--abbrev=12"]
        return subprocess.run(described, capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
