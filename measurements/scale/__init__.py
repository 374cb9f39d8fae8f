"""How fast files that are not in memory, and partitions in other processes, are searched."""

from __future__ import annotations
