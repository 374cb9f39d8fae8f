"""Which searches are made: every method, kind of bounds, metric and memory order on every hostile population."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from random import Random

from measurements.workloads.hostile import COUNTED, EDGES, UNDEFINED
from sureshot._validate.request import METRICS
from sureshot.search.methods import METHODS

BOUNDS = ("none", "limits", "limits per row", "norms", "scan")
ORDERS = ("C", "F")

DEFAULT = "betting"

# In one of so many rounds the other methods are searched, too: they are slower, and their bounds are far from tight.
OTHERS = 16

# Orders in which one table is searched.
TRIALS = 50

# Pulls with replacement of exponential-gap elimination: a million in its first round, so it is left to the test suite.
TOO_SLOW = {("exponential-gap", True), ("median-elimination", True)}


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of search, and which table of its population."""

    population: str
    method: str
    replacement: bool
    metric: str
    bounds: str
    order: str
    lossy: bool  # whether epsilon is more than 0
    delta: float
    part: int = 0


def races() -> list[Cell]:
    """Return the kinds of searches of betting elimination."""
    edges = [
        Cell(population, DEFAULT, False, metric, bounds, order, False, 0.05)
        for population, metric, bounds, order in itertools.product(EDGES, METRICS, BOUNDS, ORDERS)
        if (population, metric) not in UNDEFINED
    ]
    counted = [
        Cell(population, DEFAULT, False, metric, bounds, order, lossy, delta)
        for population, metric, bounds, order, (lossy, delta) in itertools.product(
            COUNTED, METRICS, BOUNDS, ORDERS, ((False, 0.3), (True, 0.05))
        )
    ]
    return edges + counted


def others() -> list[Cell]:
    """Return the kinds of searches of all other methods that promise something."""
    ways = [
        (record, replacement)
        for record in METHODS.values()
        for replacement in ((True, False) if record.replacement else (False,))
        if record.name != DEFAULT
        and record.budget != "required"
        and (record.name, replacement) not in TOO_SLOW
    ]
    metrics = [metric for metric in METRICS if metric != "cosine"]
    return [
        Cell(population, record.name, replacement, metric, "limits", order, lossy, 0.3)
        for (record, replacement), population, metric, order in itertools.product(
            ways, COUNTED, metrics, ORDERS
        )
        for lossy in ((True,) if record.samples else (False,))
    ]


def parts(wanted: int) -> list[Cell]:
    """Return cells with so many searches or a few more: the first part of all, then the second, and so on."""
    found: list[Cell] = []
    rounds = itertools.count()
    while len(found) * TRIALS < wanted:
        part = next(rounds)
        cells = [replace(cell, part=part) for cell in races()]
        if part % OTHERS == 0:
            cells += [replace(cell, part=part // OTHERS) for cell in others()]
        Random(part).shuffle(cells)  # an early end leaves out some of each kind
        found += cells
    return found[: -(-wanted // TRIALS)]
