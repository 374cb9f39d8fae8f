"""The command line: `sureshot search`, `scan`, `best`, `demo`, `reproduce` and `doctor`."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say which extra is missing."""
    try:
        from sureshot.cli.commands import cli  # noqa: PLC0415 - click and rich are an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("click", "rich"):
            raise
        sys.stderr.write("the command line needs click and rich: pip install 'sureshot[cli]'\n")
        raise SystemExit(1) from None
    cli(prog_name="sureshot")
