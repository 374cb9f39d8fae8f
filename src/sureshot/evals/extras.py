"""Tools that are not installed with the library: imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# What to install for each of them.
INSTALL = {
    "inspect_ai": "pip install 'sureshot[evals]'",
    "lm_eval": "pip install lm_eval",
    "gepa": "pip install gepa",
}


def needed(package: str, who: str) -> Any:
    """Return a package, or say how to install it."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        message = f"{who} needs {package}: {INSTALL[package]}"
        raise ModuleNotFoundError(message, name=package) from error
