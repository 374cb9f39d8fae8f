"""Top K of a huge set by inner product, distance or any sum of rewards, with a certificate."""

from __future__ import annotations

from sureshot.api import best_arms, top_k
from sureshot.errors import BoundsError
from sureshot.result import Certificate, RoundInfo, TopK, Work

__version__ = "0.1.0"

__all__ = [
    "BoundsError",
    "Certificate",
    "RoundInfo",
    "TopK",
    "Work",
    "best_arms",
    "top_k",
]
