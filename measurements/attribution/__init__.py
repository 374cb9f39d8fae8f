"""Searches of stored gradients against exact products over the same memory map: docs/attribution.md."""

from __future__ import annotations
