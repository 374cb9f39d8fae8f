"""How fast a search is next to numpy, faiss and usearch: docs/benchmarks.md."""

from __future__ import annotations
