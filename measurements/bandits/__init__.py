"""How many pulls each bandit needs: docs/bandits.md."""

from __future__ import annotations
