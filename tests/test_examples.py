"""The examples run as a newcomer runs them, and show what they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
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


def flipped_labels(*arguments: object) -> dict[str, list[float]]:
    """Run the story of wrong labels; return the numbers of each line of its table."""
    shown = run("find_flipped_labels.py", *arguments)
    lines = re.findall(r"^((?:full|projected) .*?) {2,}(.*%)$", shown, re.MULTILINE)
    assert len(lines) == 8, shown
    return {name: [float(one.strip("%")) for one in rest.split()] for name, rest in lines}


def test_find_flipped_labels(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    found = flipped_labels("--questions", 4, "--dimensions", 16, 256, "--rows", rows)
    ours, exact = found["full gradients, sureshot"], found["full gradients, exact product"]
    assert ours[:3] == exact[:3]
    of_ten, of_first, kept, *_ = ours
    assert kept == 100
    assert of_first >= of_ten > 5  # 1 by chance
    assert found["projected to 16"][2] < 100
    assert len(rows.read_text(encoding="utf-8").splitlines()) == 8


def test_find_flipped_labels_with_torch(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: nox -s attribution")
    rng = np.random.default_rng(0)
    # Ten kinds of bars, in the file format of Fashion-MNIST.
    labels = rng.integers(0, 10, 700)
    images = rng.integers(0, 60, (700, 28, 28))
    images[np.arange(700), :, 2 * labels + 3] += 190
    parts = {"train": slice(0, 500), "t10k": slice(500, 700)}
    arrays: dict[str, Any] = {
        f"{part}_{kind}": array[rows].astype(np.uint8)
        for part, rows in parts.items()
        for kind, array in (("images_idx3_ubyte", images), ("labels_idx1_ubyte", labels))
    }
    np.savez(tmp_path / "bars.npz", **arrays)
    options = ("--fashion", tmp_path / "bars.npz", "--epochs", 2, "--questions", 3)
    found = flipped_labels(*options, "--dimensions", 8, 64)
    assert found["full gradients, sureshot"][2] == 100


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


def test_replay_an_evaluation(tmp_path: Path) -> None:
    drawing = tmp_path / "replay.svg"
    arguments = "--examples", 300, "--orders", 3, "--epsilon", 0.05, "--plot", drawing
    shown = run("replay_an_evaluation.py", *arguments)
    (paid,) = numbers(r"\nbest_arms +([\d,]+) ", shown)
    (everything,) = numbers(r"\neverything +([\d,]+) ", shown)
    assert paid < everything / 2
    assert "the search would have saved $ " in shown
    assert "With probability at least 0.95 this is within 0.05" in shown
    assert drawing.read_text(encoding="utf-8").startswith("<?xml")
    np.save(tmp_path / "mine.npy", np.eye(4, 50) + 0.0)
    shown = run("replay_an_evaluation.py", "--table", tmp_path / "mine.npy", "--orders", 1)
    assert "4 models, 50 examples, 1 orders" in shown
