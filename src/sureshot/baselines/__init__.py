"""The methods that the paper compares itself with, and current libraries: `fit`, then `query`.

`sureshot.top_k` does not use them; they are here to be compared with. ``docs/baselines.md`` describes each.

Examples
--------
>>> import numpy as np
>>> data = np.random.default_rng(0).normal(size=(1_000, 50))
>>> method = BASELINES["lsh"](rng=0).fit(data)
>>> found = method.query(data[3], k=5, a=4, b=10)
>>> int(found.indices[0]), found.candidates < 1_000
(3, True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sureshot.baselines.base import Baseline, Found
from sureshot.baselines.diamond import DiamondMSIPS
from sureshot.baselines.exact import ExactMIPS
from sureshot.baselines.greedy import GreedyMIPS
from sureshot.baselines.hull import extreme_points
from sureshot.baselines.kmeans import KMeansMIPS
from sureshot.baselines.libraries.faiss import FaissFlat, FaissHNSW, FaissIVF
from sureshot.baselines.libraries.hnswlib import Hnswlib
from sureshot.baselines.libraries.usearch import Usearch
from sureshot.baselines.lsh import LSHMIPS
from sureshot.baselines.pca import PCAMIPS
from sureshot.baselines.rpt import RPTMIPS
from sureshot.baselines.sample import SampleMIPS

if TYPE_CHECKING:
    from collections.abc import Callable

# Those of the paper. With the largest budget each of them finds the exact answer.
PAPER: dict[str, Callable[..., Baseline]] = {
    "exact": ExactMIPS,
    "greedy": GreedyMIPS,
    "lsh": LSHMIPS,
    "pca": PCAMIPS,
    "rpt": RPTMIPS,
    "sample": SampleMIPS,
    "diamond": DiamondMSIPS,
    "kmeans": KMeansMIPS,
}

# Those of other libraries, which must be installed.
ADAPTERS: dict[str, Callable[..., Baseline]] = {
    "faiss-flat": FaissFlat,
    "faiss-ivf": FaissIVF,
    "faiss-hnsw": FaissHNSW,
    "hnswlib": Hnswlib,
    "usearch": Usearch,
}

BASELINES: dict[str, Callable[..., Baseline]] = PAPER | ADAPTERS

__all__ = [
    "ADAPTERS",
    "BASELINES",
    "LSHMIPS",
    "PAPER",
    "PCAMIPS",
    "RPTMIPS",
    "Baseline",
    "DiamondMSIPS",
    "ExactMIPS",
    "FaissFlat",
    "FaissHNSW",
    "FaissIVF",
    "Found",
    "GreedyMIPS",
    "Hnswlib",
    "KMeansMIPS",
    "SampleMIPS",
    "Usearch",
    "extreme_points",
]
