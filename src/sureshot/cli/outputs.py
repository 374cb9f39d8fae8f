"""Files that a command writes, and the one-line error when it cannot."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sureshot.cli.inputs import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def check_writable(path: Path) -> None:
    """Raise an `InputError` for a file that cannot be written, before work is lost."""
    if path.is_dir():
        raise InputError(f"cannot write {path}: Is a directory")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: {path.parent} is not a directory")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"cannot write {path}: Permission denied")


@contextmanager
def reported_if_unwritable(path: Path) -> Iterator[None]:
    """Turn an `OSError` while a file is written into an `InputError`."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
