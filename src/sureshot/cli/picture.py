"""The plot of an elimination, in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sureshot.cli.inputs import InputError
from sureshot.cli.outputs import check_writable, reported_if_unwritable

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot import TopK


def check_path(path: Path) -> None:
    """Raise an `InputError`, before a search, if a plot cannot be drawn or written."""
    known = _figure().canvas.get_supported_filetypes()
    ending = path.suffix.removeprefix(".").lower()
    if ending not in known:
        endings = ", ".join(f".{name}" for name in sorted(known))
        raise InputError(f"--plot must name a file that ends in one of {endings}; got {path}")
    check_writable(path)


def draw(result: TopK, path: Path) -> None:
    """Draw how a search eliminated arms into a file; its ending gives the format."""
    figure = _figure()
    result.plot(figure.subplots())
    with reported_if_unwritable(path):
        figure.savefig(path)


def _figure() -> Any:
    # Not pyplot, which needs a display on some machines.
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InputError("--plot needs matplotlib: pip install 'sureshot[report]'") from error
    return Figure(figsize=(8, 5), layout="constrained")
