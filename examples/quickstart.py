"""A first search: the ten best rows of 5,000, with a certificate, after reading a small share of the numbers."""

from __future__ import annotations

import numpy as np

import sureshot

rng = np.random.default_rng(0)
patterns = rng.standard_normal((20, 20_000), dtype=np.float32)
data = rng.standard_normal((5_000, 20), dtype=np.float32) @ patterns
query = rng.standard_normal(20, dtype=np.float32) @ patterns

result = sureshot.top_k(data, query, k=10, bounds=sureshot.scan(data), rng=0)
print(result)
