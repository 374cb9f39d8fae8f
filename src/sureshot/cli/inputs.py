"""What a user passes to the command line, and the one-line error when it is wrong."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zipfile import BadZipFile, is_zipfile

import click

import sureshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

# What --bounds passes to the library unchanged. A file of such a name is ./unit or ./scan.
BOUNDS_WORDS = ("unit", "scan")


class InputError(click.ClickException):
    """Input that cannot be used: reported in one line, without a traceback."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the error on stderr."""
        one_line = " ".join(self.format_message().split())
        click.echo(f"sureshot: error: {one_line}", file=file, err=True)


@contextmanager
def reported_in_one_line() -> Iterator[None]:
    """Turn what the library raises about its input into an `InputError`.

    Only calls of the library are inside, so that an error of the command line itself still shows its
    traceback.
    """
    try:
        yield
    except (TypeError, ValueError, sureshot.StorageError) as error:  # BoundsError is a ValueError
        raise InputError(str(error)) from error
    except MemoryError as error:
        raise InputError(f"not enough memory: {error}".rstrip(": ")) from error


def open_array(path: Path, name: str | None = None) -> Any:
    """Open an array in any of the formats, without reading its numbers."""
    try:
        return sureshot.open_matrix(path, name)
    except sureshot.StorageError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(f"cannot open {path}: {error.strerror or error}") from error
    except (ImportError, TypeError, ValueError) as error:
        raise InputError(str(error)) from error


def open_rewards(path: Path) -> np.ndarray[Any, Any]:
    """Open a ``.npy`` file with a table of rewards as a memory map."""
    table: np.ndarray[Any, Any] = open_array(path)
    if table.ndim != 2 or table.size == 0:
        message = (
            f"{path} must have shape (arms, rewards) and not be empty, got shape {table.shape}"
        )
        raise InputError(message)
    if table.dtype.kind not in "fiub":
        raise InputError(f"{path} must hold real numbers, got {table.dtype}")
    return table


def parse_limits(
    context: click.Context,  # noqa: ARG001 - the signature click calls
    parameter: click.Parameter,  # noqa: ARG001
    text: str | None,
) -> tuple[float, float] | None:
    """Read ``LOW,HIGH``; the library checks the two numbers."""
    if text is None:
        return None
    try:
        low, high = (float(end) for end in text.split(","))
    except ValueError:
        message = f"--bounds must be two numbers LOW,HIGH such as -1,1; got {text!r}"
        raise InputError(message) from None
    return low, high


def parse_bounds(
    context: click.Context,  # noqa: ARG001 - the signature click calls
    parameter: click.Parameter,  # noqa: ARG001
    text: str | None,
) -> tuple[float, float] | str | Path | None:
    """Read ``LOW,HIGH``, which the library checks, a known word, or the name of an existing file."""
    if text is None or text in BOUNDS_WORDS:
        return text
    try:
        low, high = (float(end) for end in text.split(","))
    except ValueError:
        path = Path(text)
    else:
        return low, high
    if not path.exists():
        message = (
            f"--bounds must be two numbers LOW,HIGH such as -1,1, {', '.join(BOUNDS_WORDS)}, or "
            f'the name of a file that "sureshot scan" wrote; got {text!r}'
        )
        raise InputError(message)
    return path


def load_bounds(path: Path) -> sureshot.Bounds:
    """Load what `sureshot.Bounds.save` wrote, or raise an `InputError` with the reason."""
    other = f'{path} is not a file that "sureshot scan" or Bounds.save wrote'
    try:
        with path.open("rb") as file:
            is_archive = is_zipfile(file)
        if not is_archive:
            raise InputError(other)
        return sureshot.Bounds.load(path)
    except OSError as error:
        raise InputError(f"cannot open {path}: {error.strerror or error}") from error
    except (TypeError, ValueError, BadZipFile) as error:
        raise InputError(f"{other}: {error}") from error
