"""Sparse solvers with searched and with exact oracles, side by side with other libraries."""

from __future__ import annotations
