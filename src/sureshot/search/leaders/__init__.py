"""Betting for few arms with expensive pulls."""

from __future__ import annotations
