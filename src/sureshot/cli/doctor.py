"""What is installed and what the machine offers."""

from __future__ import annotations

import os
import platform
import re
from importlib import metadata
from typing import Any

import numpy as np

import sureshot
from sureshot import _native

# A requirement of an extra, as the package's metadata writes it: click>=8.1; extra == "cli"
EXTRA_REQUIREMENT = re.compile(r"""^([\w.-]+).*;.*\bextra\s*==\s*['"]([\w.-]+)['"]""")


def examine() -> dict[str, Any]:
    """Return versions, instruction sets, usable threads and extras, ready for JSON."""
    return {
        "sureshot": sureshot.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "instruction_set": _native.instruction_set(),
        "instruction_sets": _native.instruction_sets(),
        "threads": _usable_threads(),
        "extras": _extras(),
    }


def _usable_threads() -> int:
    # The processors this process may run on: a container often has fewer than the machine.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _extras() -> dict[str, dict[str, str | None]]:
    """Return, for each extra, its packages with the installed version or None."""
    extras: dict[str, dict[str, str | None]] = {}
    for requirement in metadata.requires("sureshot") or ():
        if found := EXTRA_REQUIREMENT.match(requirement):
            package, extra = found.groups()
            if package == "sureshot":
                continue  # an extra that includes others: those are listed
            extras.setdefault(extra, {})[package] = _installed_version(package)
    return extras


def _installed_version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
