"""``sureshot demo``: what it makes, what it counts, and what it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import sureshot
from sureshot.cli import comparison, demo
from tests.cli.conftest import rows_of

if TYPE_CHECKING:
    from tests.cli.conftest import Invoke

SIZE = ["--rows", "97", "--columns", "1535", "--seed", "1"]


def test_memory_that_the_demo_cannot_have(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(rows: int, columns: int, seed: int) -> None:
        raise MemoryError(f"no room for {rows} x {columns}")

    monkeypatch.setattr(demo, "make_example", fail)
    refused = invoke("demo", "--rows", "10", "--columns", "7")
    assert refused.exit_code == 2
    assert refused.stderr == "sureshot: error: not enough memory: no room for 10 x 7\n"


def test_demo_compares_the_methods(invoke: Invoke) -> None:
    shown = invoke("demo", *SIZE)
    assert shown.exit_code == 0, shown.output
    example = demo.make_example(97, 1535, 1)
    searches = demo.searches(example, sureshot.Bounds())
    labels = [demo.NUMPY, demo.SCAN, *searches]
    lines = [line.strip() for line in shown.output.splitlines()]
    ends = {label: [line for line in lines if line.startswith(f"{label} ")] for label in labels}
    assert all(len(found) == 1 for found in ends.values())
    for words in ("numbers read", "share", "right", "guarantee", "Time:", "true rank"):
        assert words in shown.output
    # The table fits the usual terminal. Sentences are one line each in a pipe.
    head = next(at for at, line in enumerate(lines) if line.startswith("method"))
    table = shown.output.splitlines()[head : head + 2 + len(labels)]
    assert max(len(line) for line in table) <= 80

    found = json.loads(invoke("demo", *SIZE, "--json").stdout)
    assert found["parameters"] == {
        "rows": 97,
        "columns": 1535,
        "seed": 1,
        "k": 10,
        "bounds": list(example.bounds),
    }
    methods = {method["label"]: method for method in found["methods"]}
    assert list(methods) == labels
    assert methods[demo.NUMPY]["right"] == 10
    assert methods[demo.NUMPY]["result"] is methods[demo.SCAN]["result"] is None
    assert methods[demo.SCAN]["right"] is None
    assert methods[demo.SCAN]["numbers_read"] == 97 * 1535
    assert all(
        len(method["seconds"]) == (1 if label == demo.SCAN else demo.REPETITIONS)
        for label, method in methods.items()
    )
    answer = methods[demo.SCANNED]["result"]["indices"]
    assert [cells[1] for cells in rows_of(shown.output)] == [str(index) for index in answer]


def test_the_scanned_search_reads_less_and_is_right() -> None:
    # Small enough to be quick, large enough for a race.
    example = demo.make_example(500, 40_000, 0)
    lines = {line.label: line for line in demo.compare(example, 0, lambda _: None)}
    scanned = lines[demo.SCANNED]
    assert scanned.right == demo.K
    assert scanned.share < 0.2
    promises = [comparison.guarantee(line) for line in lines.values()]
    assert promises == [
        "exact in float32",
        "",
        "95 % sure",
        "95 % sure",
        "95 % sure, if …",
        "exact",
        "exact",
    ]


@pytest.mark.parametrize(("rows", "columns"), [(10, 1), (10, 7), (11, 1535)])
def test_demo_of_a_small_size(invoke: Invoke, rows: int, columns: int) -> None:
    shown = invoke("demo", "--rows", str(rows), "--columns", str(columns))
    assert shown.exit_code == 0, shown.output
    assert len(rows_of(shown.output)) == 10


@pytest.mark.parametrize("rows", [10, 97])
def test_demo_data_is_what_it_says(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = demo.make_example(rows, 1535, 7)
    monkeypatch.setattr(demo, "NUMBERS_PER_CHUNK", 7 * 1535)
    example = demo.make_example(rows, 1535, 7)
    # The same but for rounding: a product of matrices may depend on how many rows it has.
    np.testing.assert_allclose(example.data, whole.data, rtol=0, atol=1e-4)
    assert example.data.dtype == np.float32
    assert example.bounds == (example.data.min(), example.data.max())
    scores = example.data.astype(np.float64) @ example.query.astype(np.float64)
    assert scores[np.argsort(example.true_ranks)].tolist() == sorted(scores, reverse=True)


def test_demo_data_has_low_rank_and_uneven_rows() -> None:
    data = demo.make_example(97, 1535, 7).data.astype(np.float64)
    norms = np.linalg.norm(data, axis=1)
    assert np.std(np.log(norms)) == pytest.approx(demo.SPREAD, rel=0.3)
    # What the patterns leave of rows of norm 1 is noise: 0.09 of 1.09 of the squares.
    values = np.linalg.svd(data / norms[:, None], compute_uv=False) ** 2
    assert values[demo.RANK :].sum() / values.sum() == pytest.approx(0.09 / 1.09, rel=0.3)


def test_demo_counts_wrong_answers() -> None:
    example = demo.make_example(30, 7, 0)
    best_first = np.argsort(example.true_ranks)
    assert demo._right(example, best_first[:10]) == 10
    assert demo._right(example, best_first[4:14]) == 6


@pytest.mark.parametrize(
    ("ours", "words"),
    [
        (
            0.25,
            "was 4.0 times as fast as numpy. The time of the scan is saved after 4 such queries",
        ),
        (0.001, "The time of the scan is saved after 4 such queries."),
        (0.98, "took about as long as numpy, although it read 0.5 % of the numbers."),
        (1.02, "took about as long as numpy, although it read 0.5 % of the numbers."),
        (3.0, "took 3.0 times as long as numpy, although it read 0.5 % of the numbers."),
    ],
)
def test_the_clock_is_told_as_it_is(ours: float, words: str) -> None:
    def timed(seconds: float) -> demo.Timed:
        return demo.Timed("some", (seconds,), 1, 0.005, 10, None)

    sentence = comparison.time_sentence(timed(1.0), timed(3.0), timed(ours), 4, 50)
    assert words in sentence
    assert ("try --columns 100000 (0.0016 GB)." in sentence) == (ours > 0.9)


def test_a_scan_that_pays_at_once() -> None:
    numpy, scan, ours = (demo.Timed("some", (at,), 1, 1.0, 1, None) for at in (1.0, 0.1, 0.5))
    sentence = comparison.time_sentence(numpy, scan, ours, 4, 50)
    assert sentence.endswith("after 1 such query.")
