"""``python -m sureshot`` is the same as ``sureshot``."""

from __future__ import annotations

from sureshot.cli import main

main()
