"""Readers of the stores that the tools of the field write, one file each."""

from __future__ import annotations
