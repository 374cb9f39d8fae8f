"""A stand-in for `sureshot.baselines`: the same names, all of them the exact product of a part."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, Self

import numpy as np


@dataclass(frozen=True, slots=True)
class Found:
    indices: np.ndarray[Any, Any]
    scores: np.ndarray[Any, Any]
    candidates: int
    numbers_read: int


class Part:
    """Searches the first rows only; how many depends on the knobs."""

    def __init__(self, rng: int = 0, **build: Any) -> None:
        self.build = build

    def fit(self, data: np.ndarray[Any, Any]) -> Self:
        self.data = data
        return self

    def query(self, query: np.ndarray[Any, Any], k: int, **knobs: Any) -> Found:
        effort = 1 / (1 + float(sum(knobs.values()))) if knobs else 1.0
        rows = max(1, int(effort * len(self.data)))
        scores = self.data[:rows] @ query
        best = np.argsort(-scores, kind="stable")[:k]
        return Found(best, scores[best], rows, rows * self.data.shape[1])


class Refuses(Part):
    def fit(self, data: np.ndarray[Any, Any]) -> Self:
        raise ValueError("expected other data")


NAMES = (
    "ExactMIPS",
    "GreedyMIPS",
    "LSHMIPS",
    "PCAMIPS",
    "RPTMIPS",
    "DiamondMSIPS",
    "KMeansMIPS",
)


def package() -> ModuleType:
    """Return a module that looks like the baselines."""
    made = ModuleType("sureshot.baselines")
    for name in NAMES:
        setattr(made, name, type(name, (Part,), {}))
    setattr(made, "SampleMIPS", Refuses)  # noqa: B010 - a module has no such attribute to the types
    return made
