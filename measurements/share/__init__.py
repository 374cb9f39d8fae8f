"""How many of the numbers a search reads: docs/share.md."""

from __future__ import annotations
