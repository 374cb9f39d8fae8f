"""Test the library that is installed, not the one of this folder, with little more than pytest and scipy.

The group ``wheel`` of ``pyproject.toml`` has what these tests need: packages that have wheels on every system ours is built
for. ``python tools/check_wheel.py --all`` runs the whole suite, which needs the group ``test``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Every kernel, method, metric and kind of bounds, threads, interrupts, journals, and files of numpy and safetensors.
TESTS = (
    "tests/theory",
    "tests/sources",
    "tests/test_agnostic.py",
    "tests/test_at_once.py",
    "tests/test_bad_input.py",
    "tests/test_bandits.py",
    "tests/test_batch.py",
    "tests/test_betting.py",
    "tests/test_bounds.py",
    "tests/test_cosine.py",
    "tests/test_extreme_numbers.py",
    "tests/test_guarantee_betting.py",
    "tests/test_half_precision.py",
    "tests/test_journal.py",
    "tests/test_kernels.py",
    "tests/test_leaders.py",
    "tests/test_ledger.py",
    "tests/test_methods.py",
    "tests/test_product.py",
    "tests/test_pulls.py",
    "tests/test_race.py",
    "tests/test_same_bits.py",
    "tests/test_screen.py",
    "tests/test_searches.py",
    "tests/test_selection_of_candidates.py",
    "tests/test_small_arrays.py",
    "tests/test_team.py",
    "tests/test_wheel.py",
)


def main(options: list[str]) -> int:
    """Run the tests in another process, which has never seen the folder ``src``."""
    place = subprocess.run(
        [sys.executable, "-c", "import sureshot; print(sureshot.__file__)"],
        cwd=Path(sys.prefix),
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    if Path(place).is_relative_to(ROOT / "src"):
        print(f"expected an installed sureshot, got that of this folder: {place}", file=sys.stderr)
        return 2
    print(f"testing {place}", flush=True)
    named = [option for option in options if option.startswith("tests")]
    tests = ["tests"] if "--all" in options else named or TESTS
    others = [option for option in options if option not in ("--all", *named)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *others, *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
