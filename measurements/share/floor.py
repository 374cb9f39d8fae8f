"""How little any method can read that knows the limits of the values and nothing else.

An arm whose score is `gap` below the threshold could still reach it if enough blocks that have not
been read are all at their upper limit. At least ``m = gap / (w_b (1 - y))`` blocks are needed for
that, each a surprise over what the arm seems to be; t of P blocks drawn without replacement miss all
of them with probability about ``(1 - t / P) ** m``. No method with an unconditional guarantee at
level delta / k can drop the arm while that is above the level, so it reads at least
``1 - (delta / k) ** (1 / m)`` of the arm's blocks. Run as ``python -m measurements.share.floor WORKLOAD``; with
``--small`` at the small size of `measurements.share.run`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from measurements import workloads
from sureshot.blocks import Blocks
from sureshot.experiments.answers import true_scores
from sureshot.theory.intervals import from_values


def floor_of_query(
    scores: np.ndarray, query: np.ndarray, low: float, high: float, block: int, k: int, delta: float
) -> float:
    """Return the smallest possible share for one query, the k exact evaluations included."""
    blocks = Blocks(len(query), block)
    known = from_values("ip", query, np.array(low), np.array(high), blocks, 1)
    drawable = known.weight > 0
    n_blocks = int(drawable.sum())
    total = float(known.weight.sum())
    threshold = np.sort(scores)[-k]
    others = scores[scores < threshold]
    mean = (others - known.centre.sum()) / total
    blocks_to_hide_in = n_blocks * (threshold - others) / (total * (1 - mean))
    share = 1 - (delta / k) ** (1 / np.maximum(blocks_to_hide_in, 1e-9))
    drawable_share = n_blocks * block / len(query)
    return float((share.sum() + k) / len(scores) * min(1.0, drawable_share))


def main() -> None:
    """Print one JSON row per block size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", choices=list(workloads.USUAL))
    parser.add_argument("--small", action="store_true", help="n = 1,000, N = 20,000, 5 queries")
    parser.add_argument("--queries", type=int, help="20, or 5 with --small")
    parser.add_argument("--path", type=Path, help="data file of the workloads that need one")
    options = parser.parse_args()
    n, width, queries = (1_000, 20_000, 5) if options.small else (None, None, 20)
    made = workloads.make(
        options.workload, n=n, N=width, queries=options.queries or queries, path=options.path
    )
    scores = true_scores(made.data, made.queries)
    for block in (1, 16):
        floors = [
            floor_of_query(
                scores[i],
                made.queries[i].astype(np.float64),
                made.low,
                made.high,
                block,
                10,
                0.05,
            )
            for i in range(len(made.queries))
        ]
        row = {
            "workload": options.workload,
            "block": block,
            "median_floor": float(np.median(floors)),
        }
        print(json.dumps(row))


if __name__ == "__main__":
    main()
