"""Steps until an arm is dropped on a device, by the choice of rho: `sureshot.cuda.bets` next to two others.

``python -m measurements.theory.device_steps`` measures what is not in the rows yet, docs/results/device-steps.jsonl,
and puts the table of section 18 into docs/theory.md. A minute from nothing.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

from measurements import workloads
from measurements.harness import machine, page
from measurements.harness.command import report
from sureshot.cuda import bets, rounding
from sureshot.cuda.order import order_of
from sureshot.cuda.reference import Question, Search
from sureshot.experiments import rows
from sureshot.theory import wealth

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sureshot._types import Floats, Ints
    from sureshot.cuda.bets import Float32s
    from sureshot.experiments.rows import Row

N_ARMS, N_COORDINATES, K, DELTA = 1_000, 30_000, 10, 0.05
QUERIES = 4
STEPS = 512
# Steps of the first race where many rows are too short for the threshold.
FIRST_RACE = 48
DATA = {
    "low-rank": "low rank, log-normal norms",
    "unit-norm": "low rank, equal norms",
    "digits-gradients": "gradients of a network (digits)",
    "planted-0.1": "planted, cosines of 0.1",
}
RULES = {
    "stake": "ρ from the stake alone",
    "drift": "with the drift",
    "section 5": "as in section 5",
}


@dataclass(frozen=True)
class DeviceStepsCase:
    """A data set and a choice of rho."""

    workload: str
    rule: str
    n_arms: int
    n_coordinates: int
    k: int
    delta: float
    queries: int


def cases() -> list[DeviceStepsCase]:
    """Return everything that is measured."""
    return [
        DeviceStepsCase(name, rule, N_ARMS, N_COORDINATES, K, DELTA, QUERIES)
        for name, rule in product(DATA, RULES)
    ]


def rho_from_the_stake(
    mu: Float32s, d: Float32s, spread: Float32s, m: Float32s, _drift: Float32s
) -> Float32s:
    """Return the largest rho at whose cap the stake d / spread may still be placed."""
    wanted = mu + np.float32(rounding.C) * spread / d
    return np.asarray(wanted + np.sqrt(np.fmax(wanted * wanted - m, np.float32(0))))


def dropping_steps(search: Search, arms: Ints, rule: str) -> Ints:
    """Return the step at which each arm is dropped, or STEPS, at the threshold of the search."""
    count = min(STEPS, len(search.order))
    x, squares = search.block_sums(arms, 0, count)
    theta, limit = search.thresholds(arms), search.widened_squares(arms)
    if rule == "section 5":
        return _in_float64(search, x, squares, theta, limit)
    dropped = np.full(len(arms), STEPS)
    sums, stock = bets.Sums.of(len(arms)), np.ones((1, len(arms)), dtype=np.float32)
    level = np.float32(rounding.level(search.k, search.question.delta, STEPS))
    for begin in range(0, count, rounding.ROUND):
        end = min(begin + rounding.ROUND, count)
        steps = bets.Steps.of(search.order, begin, end)
        now = x[:, begin:end], squares[:, begin:end]
        for last in range(1, end - begin):  # the step within the round: play more and more of it
            few = bets.Steps(*(part[:last] for part in _parts(steps)))
            short = now[0][:, :last], now[1][:, :last]
            won = bets.play(*short, sums, stock, few, theta, limit, level).won[0]
            dropped = np.where(won & (dropped == STEPS), begin + last, dropped)
        played = bets.play(*now, sums, stock, steps, theta, limit, level)
        dropped = np.where(played.won[0] & (dropped == STEPS), end, dropped)
        sums, stock = played.sums, played.wealth
    return dropped


def _parts(steps: bets.Steps) -> tuple[Float32s, ...]:
    return (
        steps.count,
        steps.inverse_count,
        steps.inverse_rest,
        steps.inverse_weight,
        steps.inverse_left,
    )


def _in_float64(
    search: Search, x: Float32s, squares: Float32s, theta: Float32s, limit: Float32s
) -> Ints:
    count = x.shape[1]
    weight = 1 / search.order.inverse_weight[:count, None].astype(np.float64)
    sums: Floats = x.T.astype(np.float64)
    left = search.order.left[:count, None].astype(np.float64)
    placed = wealth.norm_bets(
        sums / weight,
        wealth.before(sums),
        left,
        np.broadcast_to(theta.astype(np.float64), sums.shape),
        squares.T.astype(np.float64),
        weight,
        limit.astype(np.float64),
    )
    reached = wealth.log_wealth(placed, theta.astype(np.float64)) >= np.log(K / DELTA)
    return np.where(reached.any(axis=0), reached.argmax(axis=0) + 1, STEPS)


def measure(case: DeviceStepsCase) -> Row:
    """Drop all arms of some queries that can be dropped by bets, and return their mean steps."""
    made = workloads.make(
        case.workload, n=case.n_arms, N=case.n_coordinates, queries=case.queries, seed=1
    )
    data = np.asarray(made.data, dtype=np.float32)
    norms = np.einsum("ij,ij->i", data, data, dtype=np.float64)
    found = []
    for seed, query in enumerate(made.queries):
        search = Search(Question(data, query, case.k, norms, seed, delta=case.delta))
        plan = search.plan
        search.order = order_of(search.query, plan.block, plan.chunk, seed, plan.draws)
        search.scaled_query = (search.query * search.order.scale).astype(np.float32)
        search.sums = bets.Sums.of(len(data))
        scores = data.astype(np.float64) @ search.query
        search.tau = float(np.sort(scores)[-case.k])
        worse = np.flatnonzero(scores < search.tau)
        worse = worse[~search.pruned(worse)]
        rule = rho_from_the_stake if case.rule == "stake" else bets.chosen_rho
        with np.errstate(all="ignore"), mock.patch.object(bets, "chosen_rho", rule):
            found.append(dropping_steps(search, worse, case.rule))
    steps = np.concatenate(found)
    return {
        **asdict(case),
        "arms": len(steps),
        "steps": float(steps.mean()),
        "beyond_first_race": float((steps > FIRST_RACE).mean()),
    }


def lines(found: Sequence[Row]) -> list[str]:
    """Return the table in Markdown."""
    by_case = {(row["workload"], row["rule"]): row for row in found}

    def cell(name: str, rule: str) -> str:
        row = by_case[name, rule]
        return f"{row['steps']:.1f} ({100 * row['beyond_first_race']:.1f} %)"

    body = [[title, *(cell(name, rule) for rule in RULES)] for name, title in DATA.items()]
    return page.table(["rows", *RULES.values()], body)


def write(found: Sequence[Row], document: Path = page.DOCS / "theory.md") -> None:
    """Put the table of the rows into the page."""
    page.rewrite(document, {"device steps": lines(found)})


def run(wanted: Iterable[DeviceStepsCase], out: Path) -> None:
    """Measure some cases, and keep each row as soon as it is there."""
    environment = machine.environment()
    for case in wanted:
        rows.append(out, {**measure(case), **environment})
        report(f"{case}: done")


def main() -> None:
    """Measure what is missing and write the table."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.theory.device_steps", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=page.DOCS / "results" / "device-steps.jsonl")
    settings = parser.parse_args()
    wanted = cases()
    run(rows.missing(wanted, rows.read(settings.out)), settings.out)
    found = rows.belonging(wanted, rows.read(settings.out))
    write(found)
    print("\n".join(lines(found)))


if __name__ == "__main__":
    main()
