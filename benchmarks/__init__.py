"""Measurements. Run them from the root of the repository, as in ``python -m benchmarks.share``."""

from __future__ import annotations
