"""Solvers with searched oracles beside exact ones, scikit-learn's and copt's.

``python -m measurements.solvers.run`` times orthogonal matching pursuit of noiseless signals of 20 atoms against
``sklearn.linear_model.orthogonal_mp(precompute=False)``, for 1,000 to 20,000 atoms of 20,000 samples in float32, and Frank–Wolfe over an ℓ1 ball
against the same steps with an exact oracle, and copt's. The largest dictionary takes 1.6 GB; ``--most-numbers`` leaves out larger
ones, ``--samples`` makes all of them smaller, and ``--seconds`` ends early; the same command goes on. Rows of JSON are appended to ``--out``; those of the same state of the library are
skipped. ``--write`` puts tables, the figure and the rows into docs/.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import numpy as np

from measurements.harness import command, machine
from measurements.harness.command import report
from measurements.solvers import table
from measurements.solvers.cases import (
    ATOMS,
    COPT,
    OURS,
    SAMPLES,
    SKLEARN,
    SolverCase,
    cases,
    dictionary,
    minimisers,
    pursuits,
    signal,
)
from sureshot.experiments import clock, rows

CALLS = {"omp": 3, "frank-wolfe": 1}  # of each side; one of hundreds of steps is long enough
PATIENCE = 60.0


def measure(case: SolverCase) -> rows.Row:
    """Time every side of one case, and compare what they found."""
    made = dictionary(case)
    wanted = signal(made, case.seed)
    sides = (pursuits if case.task == "omp" else minimisers)(made, wanted, case)
    times = clock.in_turn(sides, range(CALLS[case.task]), rest=2 * clock.REST, patience=PATIENCE)
    seconds = {name: its.median for name, its in times.items()}
    found = {name: its.results[-1] for name, its in times.items()}
    facts = _of_pursuits(found) if case.task == "omp" else _of_minimisers(found, wanted)
    ours = found[OURS]
    return {
        **vars(case),
        "seconds": seconds,
        "quartiles": {name: its.quartiles for name, its in times.items()},
        "numbers_read": ours.work.numbers_read,
        "numbers_scanned": ours.work.numbers_scanned,
        "questions": ours.certificate.questions,
        "share": ours.work.share,
        "unconditional": ours.certificate.unconditional,
        **facts,
    }


def _of_pursuits(found: dict[str, Any]) -> dict[str, Any]:
    supports = {
        name: set(np.flatnonzero(one if name == SKLEARN else one.coef).tolist())
        for name, one in found.items()
    }
    return {"same_support": all(one == supports[OURS] for one in supports.values())}


def _of_minimisers(found: dict[str, Any], wanted: Any) -> dict[str, Any]:
    ours = {name: one for name, one in found.items() if name != COPT}
    steps = {name: one.n_iter for name, one in ours.items()}
    values = {name: one.value for name, one in ours.items()}
    gaps = {name: one.gap for name, one in ours.items()}
    if COPT in found:
        its = found[COPT]
        steps[COPT], gaps[COPT] = int(its.nit), float(its.certificate)
        values[COPT] = 0.5 * float(((its.x - wanted) ** 2).sum())
    return {"steps": steps, "values": values, "gaps": gaps}


def run(settings: argparse.Namespace) -> list[rows.Row]:
    """Measure all that is missing, one dictionary in memory at a time; return all rows of the run."""
    environment = machine.environment()
    wanted = cases(
        settings.most_numbers,
        settings.samples,
        settings.threads,
        settings.seed,
        environment["library_digest"],
    )
    began = time.perf_counter()
    for case in rows.missing(wanted, rows.read(settings.out)):
        if time.perf_counter() - began > settings.seconds:
            report("not all measured yet: the same command goes on")
            break
        row = {**environment, **measure(case)}
        rows.append(settings.out, row)
        times = ", ".join(f"{name} {1e3 * taken:.3g} ms" for name, taken in row["seconds"].items())
        what = f"{case.task} {case.structure} {case.order} {case.variant} {case.n:,} × {case.N:,}"
        report(f"{what}: {times}; share {row['share']:.2%}")
    return rows.belonging(wanted, rows.read(settings.out))


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m measurements.solvers.run", description=__doc__)
    most = ATOMS[-1] * SAMPLES
    command.add_most_numbers(parser, most, "of a dictionary; larger ones are left out")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="20,000 by default")
    parser.add_argument(
        "--seconds",
        type=float,
        default=math.inf,
        help="begin with no other case after so many; the same command goes on",
    )
    command.add_run_options(parser, "solvers", "tables, figure and rows")
    command.add_options(parser, ())
    settings = parser.parse_args(arguments)
    if settings.most_numbers < ATOMS[0] * settings.samples:
        parser.error(f"--most-numbers: expected at least {ATOMS[0] * settings.samples}")
    return settings


def main() -> None:
    """Measure and print the tables, or write them."""
    settings = parse()
    found = run(settings)
    print(*table.pursuits(found), "", *table.minimisers(found), sep="\n")
    if settings.write:
        table.write(found)


if __name__ == "__main__":
    main()
