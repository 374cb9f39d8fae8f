"""The evaluation tools, and what a search saves on results that exist."""

from __future__ import annotations
