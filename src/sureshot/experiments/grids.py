"""The settings that each method is tried with: the paper's ranges, thinned."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from sureshot.experiments.compare import ComparisonCase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.experiments.compare import Knobs


@dataclass(frozen=True, slots=True)
class Grid:
    """What is varied. The paper: ε and δ in [0, 1], a in [1, 20], b in [1, 50], B from 10 % to 100 %
    of the rows, depth in [0, 20].
    """  # noqa: D205

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]
    betting_epsilons: tuple[float, ...]
    budgets: tuple[float, ...]
    bits: tuple[int, ...]
    tables: tuple[int, ...]
    shares: tuple[float, ...]
    depths: tuple[int, ...]

    def settings(self) -> list[tuple[str, Knobs, Knobs]]:
        """Return method, what it is made with, and what it is asked with, for every point."""
        promises = [knobs(epsilon=e, delta=d) for e, d in product(self.epsilons, self.deltas)]
        bets = [knobs(epsilon=e, delta=d) for e, d in product(self.betting_epsilons, self.deltas)]
        bets += [knobs(epsilon=epsilon, delta=self.deltas[0]) for epsilon in self.epsilons]
        bets += [knobs(epsilon=0.0, delta=self.deltas[0], budget=share) for share in self.budgets]
        hashes = knobs(most_bits=max(self.bits), most_tables=max(self.tables))
        deepest = knobs(depth=max(self.depths))
        none = knobs()
        found = [
            (name, none, asked)
            for name in ("BoundedME", "BoundedME, R = 1", "BoundedME, R = 1, columns")
            for asked in promises
        ]
        found += [
            (name, none, asked)
            for name in ("betting", "betting, scanned")
            for asked in dict.fromkeys(bets)
        ]
        found += [("GreedyMIPS", none, knobs(B=share)) for share in self.shares]
        found += [("LSHMIPS", hashes, knobs(a=a, b=b)) for a, b in product(self.bits, self.tables)]
        found += [("PCAMIPS", deepest, knobs(depth=depth)) for depth in self.depths]
        return found


def knobs(**values: Any) -> Knobs:
    """Return settings in a form that a row can hold.

    Examples
    --------
    >>> knobs(a=3, b=4)
    (('a', 3), ('b', 4))
    """
    return tuple(values.items())


# Epsilons are losses in the mean reward. They span the paper's [0, 1]; betting is also asked for some
# that mean something where the means of all arms are within a few per cent.
GRIDS = {
    "small": Grid(
        epsilons=(0.05, 0.1, 0.2, 0.4, 0.7, 1.0),
        deltas=(0.05, 0.3),
        betting_epsilons=(0.0, 0.01, 0.02),
        budgets=(0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8),
        bits=(1, 2, 4, 8, 12, 20),
        tables=(1, 5, 20, 50),
        shares=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0),
        depths=(0, 1, 2, 3, 4, 6, 8),
    ),
    "paper": Grid(
        epsilons=(0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0),
        deltas=(0.05, 0.5),
        betting_epsilons=(0.0, 0.001, 0.002, 0.005),
        budgets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8),
        bits=(1, 2, 3, 4, 6, 8, 10, 12, 16, 20),
        tables=(1, 2, 5, 10, 20, 35, 50),
        shares=tuple(step / 10 for step in range(1, 11)),
        depths=tuple(range(21)),
    ),
}


def cases(
    figure: str, data: str, shape: tuple[int, int], ks: Sequence[int], grid: Grid, queries: int
) -> list[ComparisonCase]:
    """Return the cases of one data set; those of one fitted method follow each other."""
    settings = grid.settings()
    fits = dict.fromkeys((method, build) for method, build, _ in settings)
    return [
        ComparisonCase(figure, data, *shape, k, method, build, asked, queries, seed=0)
        for method, build in fits
        for k in ks
        for name, made_with, asked in settings
        if (name, made_with) == (method, build)
    ]
