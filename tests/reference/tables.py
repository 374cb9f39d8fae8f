"""Small problems whose block sums are all known, computed in plain numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot import _native
from sureshot.blocks import Blocks
from sureshot.query_sums import QuerySums
from sureshot.search.problem import Problem
from sureshot.sources.dense import DenseSource
from sureshot.theory import intervals
from tests.racing import given

if TYPE_CHECKING:
    from sureshot._types import Array, Floats
    from sureshot.theory.intervals import Intervals

KINDS = ("range", "reach", "norms", "estimated", "distances")

CASES = [
    pytest.param(kind, order, signs, id=f"{kind}-{order}{'-both signs' if signs else ''}")
    for kind in KINDS
    for order in ("C", "F")
    for signs in (False, True)
    if not (signs and kind == "distances")
]

N_ARMS, N_COORDINATES, K = 200, 3000, 5


@dataclass(frozen=True)
class Table:
    """A problem, and the sums of all its blocks, (blocks, arms)."""

    problem: Problem
    sums: Floats
    squares: Floats  # of the values of the data

    @property
    def scores(self) -> Floats:
        """The exact score of every arm, as it is ranked."""
        return self.problem.as_scores(self.problem.scale * self.sums.sum(axis=0))


def known_limits(kind: str, data: Array, query: Floats, blocks: Blocks) -> Intervals:
    """Return intervals of the block sums, by what is known of the data."""
    n_arms = len(data)
    if kind == "range":
        low, high = float(data.min()), float(data.max())
        return intervals.from_values("ip", query, np.array(low), np.array(high), blocks, n_arms)
    sums, none, one = QuerySums(query, blocks), np.zeros(1), np.ones(1)
    if kind == "reach":
        limit = intervals.limits_of_reach(np.abs(data).max(axis=1), none, one, blocks)
        return intervals.from_scales(sums, sums.absolute().sums, none, limit)
    if kind == "norms":
        norms = np.linalg.norm(data, axis=1) * 1.001
        square_limit = intervals.squares_of_norms(norms, blocks)
        return intervals.from_norms(sums, sums.squares().sums, square_limit)
    if kind == "estimated":
        return intervals.to_be_estimated(sums, n_arms)
    return intervals.from_distances(blocks, n_arms)


def table_of(
    kind: str,
    order: str,
    rng: np.random.Generator,
    *,
    signs: bool = False,
    epsilon: float = 0.0,
    unit: float = 1.0,
    threads: int = 2,
) -> Table:
    """Return a problem of low rank with noise, its data stored by row ("C") or by column ("F")."""
    blocks = Blocks(N_COORDINATES, 8, 3) if order == "C" else Blocks(N_COORDINATES)
    rank = 12
    data = rng.standard_normal((N_ARMS, rank)) @ rng.standard_normal((rank, N_COORDINATES))
    data += 0.5 * rng.standard_normal(data.shape)
    data *= unit * rng.lognormal(0, 0.7, (N_ARMS, 1))
    query = rng.standard_normal(rank) @ rng.standard_normal((rank, N_COORDINATES))
    query += rng.standard_normal(N_COORDINATES)
    scale = rng.lognormal(0, 0.3, N_ARMS) if kind == "range" else np.ones(N_ARMS)
    stored = np.asarray(data, order=order)  # type: ignore[call-overload]
    reward = "sqeuclidean" if kind == "distances" else "ip"
    team = _native.Team(threads)
    problem = Problem(
        DenseSource(stored, query, reward, blocks, team),
        np.arange(N_ARMS),
        scale,
        K,
        epsilon,
        0.1,
        given(known_limits(kind, data, query, blocks)),
        signs=(1.0, -1.0) if signs else (1.0,),
        team=team,
    )
    rewards = -((data - query) ** 2) if kind == "distances" else data * query
    return Table(problem, _by_block(rewards, blocks), _by_block(data**2, blocks))


def _by_block(values: Floats, blocks: Blocks) -> Floats:
    return np.stack([blocks.sums(row) for row in values], axis=1)
