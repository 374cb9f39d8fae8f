"""Plant mistakes in theory, policy and certificates, and count those that the tests do not notice.

``python -m measurements.trust.mutate --mutants 300 --minutes 30``: a sample of so many, drawn with a seed. An interrupted run
goes on with the same command, and a sample that was tried grows by a larger number.
"""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from measurements.harness import command, machine, page
from measurements.trust import mutants, mutants_table, running
from sureshot.experiments import rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from measurements.trust.mutants import Mutant
    from sureshot.experiments.rows import Row

COMMITTED = page.DOCS / "results" / "trust-mutants.jsonl"
ROOT = Path(__file__).parents[2]
SEED = 19
PATIENCE = 300.0  # seconds: a mutant that takes longer is noticed, too
MEMORY = 4 << 30  # bytes of its process: the same

# The modules, and the tests that must notice what is wrong with them, after the examples of the module itself.
TESTS = {
    "theory.budgets": ("tests/theory/test_bandit_schedules.py",),
    "theory.concentration": ("tests/theory/test_concentration.py", "tests/theory/test_radii.py"),
    "theory.elimination": ("tests/theory/test_bandit_schedules.py",),
    "theory.intervals": ("tests/theory/test_intervals.py", "tests/test_unread_arms.py"),
    "theory.looks": ("tests/theory/test_radii.py",),
    "theory.mixture": ("tests/test_mixture.py", "tests/test_leaders.py"),
    "theory.narrowing": ("tests/theory/test_narrowing.py", "tests/test_shortlist.py"),
    "theory.products": (
        "tests/theory/test_error_terms.py",
        "tests/test_multiplication.py",
        "tests/test_product.py",
    ),
    "theory.radii": ("tests/theory/test_radii.py", "tests/theory/test_bandit_schedules.py"),
    "theory.rounding": (
        "tests/theory/test_error_terms.py",
        "tests/test_multiplication.py",
        "tests/test_product.py",
    ),
    "theory.schedule": ("tests/theory/test_schedule.py",),
    "theory.screening": (
        "tests/theory/test_error_terms.py",
        "tests/test_screen.py",
    ),
    "theory.wealth": (
        "tests/theory/test_wealth.py",
        "tests/test_ledger.py",
        "tests/test_guarantee_betting.py",
    ),
    "search.certificate": ("tests/test_certificate.py", "tests/test_budget.py"),
    "search.race.policy": ("tests/test_policy.py", "tests/test_choice.py"),
}


def draw() -> list[Mutant]:
    """Return all mutants in a random order, in which those of a module keep their places when another module changes."""
    found = [one for module in TESTS for one in mutants.mutants_of(f"sureshot.{module}")]
    return sorted(found, key=_ticket)


def _ticket(mutant: Mutant) -> bytes:
    words = (SEED, mutant.module, mutant.number, mutant.before, mutant.after)
    return hashlib.sha256(repr(words).encode()).digest()


def left_of(count: int, there: Sequence[Row]) -> list[Mutant]:
    """Return the next mutants to try until there are so many; those of older samples count if they still exist."""
    every = draw()
    tried = len(rows.belonging(every, there))
    return rows.missing(every, there)[: max(count - tried, 0)]


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def try_one(mutant: Mutant) -> Row:
    """Run the tests with one mutant planted, up to the first that fails."""
    began = time.monotonic()
    examples = f"tests/test_docstrings.py::test_examples[{mutant.module}]"
    tests = (examples, *TESTS[mutant.module.removeprefix("sureshot.")])
    words = ["-q", "-x", "-p", "no:cacheprovider", "-p", "measurements.trust.planting", *tests]
    environment = {
        mutants.VARIABLE: f"{mutant.module}:{mutant.number}",
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", *words],
            cwd=ROOT,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            preexec_fn=_limit_memory,
        )
        said = "survived" if ended.returncode == 0 else "noticed"
        last = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        by = last[0].split()[1].partition("::")[2] if last else ""
    except subprocess.TimeoutExpired:
        said, by = "noticed", "no end"
    seconds = round(time.monotonic() - began, 2)
    found = {"outcome": said, "by": by[:80], "seconds": seconds}
    return {**asdict(mutant), **found, "commit": machine.environment()["commit"]}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options."""
    return running.parser_of("mutants", 300, 30, __doc__).parse_args(arguments)


def measure(settings: argparse.Namespace) -> None:
    """Try what is missing, as long as there is time."""
    left = left_of(settings.mutants, rows.read(settings.out))
    for row in running.try_in_time(try_one, left, settings):
        if row["outcome"] == "survived":
            command.report(mutants_table.shown(row))


def main(arguments: Sequence[str] | None = None) -> None:
    """Try, and write the page if asked to."""
    settings = parse(arguments)
    if settings.minutes > 0:
        measure(settings)
    found = rows.belonging(draw(), rows.read(settings.out))
    print("\n".join(mutants_table.counts(found)))
    if settings.write:
        rows.write(COMMITTED, found)
        page.rewrite(page.DOCS / "trust.md", mutants_table.sections(found))


if __name__ == "__main__":
    main()
