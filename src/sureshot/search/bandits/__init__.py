"""The bandits of the literature, on the same sources and with the same result."""

from __future__ import annotations
