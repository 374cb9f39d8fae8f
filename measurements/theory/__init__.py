"""The figures of docs/theory.md."""

from __future__ import annotations
