"""Betting elimination: the race, what it costs and what it reads next."""

from __future__ import annotations
