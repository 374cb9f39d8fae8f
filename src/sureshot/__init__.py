"""Top K of a huge set by inner product, distance or any sum of rewards, with a certificate."""

from __future__ import annotations

from sureshot.api import best_arms, scan, top_k
from sureshot.bounds import Bounds
from sureshot.errors import BoundsError, JournalError, PullError, StorageError
from sureshot.result import Certificate, RoundInfo, ScanInfo, TopK, Work
from sureshot.stacking import hstack, partitioned, vstack
from sureshot.storage.opening import open_matrix

__version__ = "0.1.0"

__all__ = [
    "Bounds",
    "BoundsError",
    "Certificate",
    "JournalError",
    "PullError",
    "RoundInfo",
    "ScanInfo",
    "StorageError",
    "TopK",
    "Work",
    "best_arms",
    "hstack",
    "open_matrix",
    "partitioned",
    "scan",
    "top_k",
    "vstack",
]
