"""How often answers are wrong, and what hostile input does: docs/trust.md."""

from __future__ import annotations
