"""The page about the paper's experiments: docs/reproducing-the-paper.md."""

from __future__ import annotations
