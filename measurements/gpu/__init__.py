"""How fast the search of CUDA arrays is, next to torch's product and topk. `make bench-gpu` runs it."""

from __future__ import annotations
