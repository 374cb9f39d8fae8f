"""What a budget proves and what it loses, on uniform rows: the figures of section 8 of ``docs/theory.md``.

python -m measurements.theory.budget
"""

from __future__ import annotations

import numpy as np

import sureshot

ARMS, WIDTH, K = 2_000, 20_000, 10


def main() -> None:
    """Print a row for each budget."""
    rng = np.random.default_rng(0)
    data = rng.random((ARMS, WIDTH), dtype=np.float32)
    query = rng.standard_normal(WIDTH)
    query *= 10 / np.linalg.norm(query)
    kth = np.sort(data.astype(np.float64) @ query)[-K]
    print(f"the {K}-th best score is {kth:.4g}")
    for budget in (0.01, 0.02, 0.04, 0.08, 0.16, 0.3):
        found = sureshot.top_k(data, query, K, bounds=(0, 1), budget=budget, rng=0)
        loss = kth - found.scores[-1]
        print(f"budget {budget:4.0%}: proved {found.certificate.epsilon:6.1f}, lost {loss:5.2f}")


if __name__ == "__main__":
    main()
