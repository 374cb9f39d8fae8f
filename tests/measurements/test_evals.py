"""The replay of committed results: rows, table and page, and the rows again from the results."""

from __future__ import annotations

import numpy as np

from measurements.evals import results, run, table
from measurements.harness.page import DOCS
from sureshot.experiments import rows


def committed() -> list[rows.Row]:
    return rows.read(DOCS / "results" / "evals.jsonl")


def test_the_page_has_the_table_of_the_committed_rows() -> None:
    found = committed()
    assert rows.missing(run.cases(), found) == []
    text = (DOCS / "evals.md").read_text(encoding="utf-8")
    lines = table.lines(found)
    assert "\n".join(["<!-- begin replay -->", *lines, "<!-- end replay -->"]) in text


def test_the_committed_results_are_whole() -> None:
    models, right = results.read()
    assert right.shape == (len(models), 10_000) == (len(set(models)), 10_000)
    row = results.row_of(models[3], right[3])
    assert row["right"] == rows.read(results.FILE)[3]["right"]
    assert results.FILE.stat().st_size < 300_000


def test_a_few_orders_give_what_the_rows_have() -> None:
    case = run.EvalsCase(examples=300, epsilon=0.05, delta=0.05, first=0, orders=3)
    row = run.measure(case)
    assert (row["models"], row["examples"]) == (len(results.read()[0]), 300)
    assert [one["name"] for one in row["outcomes"]] == [
        one["name"] for one in committed()[0]["outcomes"]
    ]
    assert all(0 < one["share"] <= 1 for one in row["outcomes"])


def test_no_search_of_the_committed_rows_was_wrong_more_often_than_promised() -> None:
    found = table.outcomes(committed())
    for of in found.values():
        share, right = of["best_arms"]
        assert right >= 1 - run.DELTA
        assert share <= of["fixed sample, as certain"][0]
    # A larger test set and a larger epsilon take a smaller share.
    shares = np.array(
        [[found[size, epsilon]["best_arms"][0] for epsilon in run.EPSILONS] for size in run.SIZES]
    )
    assert (np.diff(shares, axis=0) < 0).all()
    assert (np.diff(shares, axis=1) < 0).all()
