"""The examples run as a newcomer runs them, and show what they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, *arguments: object) -> str:
    """Run an example and return what it prints."""
    finished = subprocess.run(
        [sys.executable, EXAMPLES / name, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    return finished.stdout


def numbers(pattern: str, text: str) -> list[int]:
    """Return the numbers that the groups of a pattern stand for."""
    found = re.search(pattern, text)
    assert found, f"{pattern} not in:\n{text}"
    return [int(group.replace(",", "")) for group in found.groups()]


def test_pick_the_best_model() -> None:
    shown = run("pick_the_best_model.py")
    taken, everything = numbers(r"It took ([\d,]+) of ([\d,]+) predictions", shown)
    table = re.findall(r"^\S.* {2,}([\d,]+) +([\d.]+)%$", shown, re.MULTILINE)
    assert len(table) >= 20
    assert sum(int(spent.replace(",", "")) for spent, _ in table) == taken < everything / 2
    best = re.search(r"held-out digits: .*, ([\d.]+)% right", shown)
    assert best
    assert float(best[1]) >= max(float(accuracy) for _, accuracy in table) - 2
    assert "With probability at least 0.95 this is within 0.02" in shown


def test_pick_the_best_prompt(tmp_path: Path) -> None:
    journal = tmp_path / "prompts.db"
    arguments = "--journal", journal, "--latency", 0.0005, "--interrupt-after", 700
    shown = run("pick_the_best_prompt.py", *arguments)
    assert "Interrupted after" in shown
    (kept,) = numbers(r"([\d,]+) rewards are stored in", shown)
    assert kept >= 700
    known, paid = numbers(r"([\d,]+) from the journal, ([\d,]+) paid then", shown)
    (charged,) = numbers(r"Charged in all: ([\d,]+) answers", shown)
    assert (known, charged) == (kept, kept + paid)
    assert "With probability at least 0.95 this is within 0.02" in shown
    again = run("pick_the_best_prompt.py", *arguments)
    assert numbers(r"Charged in all: ([\d,]+) answers", again) == [0]
    assert re.search("Best prompt.*", shown)[0] == re.search("Best prompt.*", again)[0]  # type: ignore[index]


def test_search_compressed_rows() -> None:
    shown = run("search_compressed_rows.py")
    share = re.search(r"^rows \[ *7 34 99\], ([\d.]+)% unpacked\. With probability", shown)
    assert share
    assert float(share[1]) < 50


def test_screen_features() -> None:
    pytest.importorskip("sklearn", reason="the example fits a Lasso")
    shown = run("screen_features.py", "--samples", 3_000, "--features", 300, "--kept", 40)
    assert "5 of 5 relevant features are among them" in shown
    assert "the Lasso of all features: yes" in shown


def test_recommend_items() -> None:
    pytest.importorskip("scipy", reason="the example makes a sparse matrix")
    shown = run("recommend_items.py", "--users", 300, "--items", 400)
    assert "10 new items for each user" in shown
    assert "The plain product finds the same: yes." in shown
