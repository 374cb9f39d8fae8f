"""Whether a search is worth its rounds: the formula of the calculator in docs, next to what was measured."""

from __future__ import annotations
