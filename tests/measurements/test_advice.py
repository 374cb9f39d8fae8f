"""The calculator of docs/can-it-help.md: its formula, next to measured rows, and the same formula in JavaScript."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from dataclasses import asdict

import numpy as np
import pytest

from measurements.advice import gaps, measured
from measurements.advice.model import ANSWERS, BOUNDS, STORAGES, Question, advise, constants
from measurements.harness.page import DOCS
from sureshot.experiments import rows

QUESTIONS = [
    Question(n, width, gap, storage, bounds, k)
    for n, width, gap, k, storage, bounds in itertools.product(
        (100, 10_000, 3e6), (200, 30_000, 1e6), (0.004, 0.1, 1.5), (1, 40), STORAGES, BOUNDS
    )
]


def test_the_formula_agrees_with_measured_rows() -> None:
    """Where a search gains by both: nine in ten shares and gains within a factor of 3, as the page says."""
    both = [
        one
        for one in measured.comparisons()
        if one.expected.verdict in ("yes", "perhaps") and one.gain > 1.5
    ]
    assert len(both) >= 10
    for theirs, ours in (
        ([one.share for one in both], [one.expected.share for one in both]),
        ([one.gain for one in both], [one.expected.gain for one in both]),
    ):
        wrong_by = np.exp(np.abs(np.log(np.divide(ours, theirs))))
        assert np.quantile(wrong_by, 0.9) < 3


def test_it_says_no_where_nothing_was_gained() -> None:
    found = measured.comparisons()
    refused = [one for one in found if one.expected.verdict not in ("yes", "perhaps")]
    assert {one.workload for one in refused} >= set(measured.INDEPENDENT)
    assert all(one.expected.share == one.expected.gain == 1 for one in refused)
    for one in found:
        if one.workload in measured.INDEPENDENT:
            assert one.expected.verdict == "no gap"
    assert np.median([one.gain for one in refused]) < 1.5


def test_every_answer_is_given() -> None:
    assert {advise(one).verdict for one in QUESTIONS} == set(ANSWERS)


def test_the_calculator_has_the_same_formula() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the browser of nox -s docs runs the same script")
    program = (
        "const { advise } = require(process.argv[1]);"
        "const { questions, constants } = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(questions.map((one) => advise(one, constants))));"
    )
    asked = {"questions": [asdict(one) for one in QUESTIONS], "constants": constants()}
    ended = subprocess.run(
        [node, "-e", program, str(DOCS / "_static" / "advice.js")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    for question, theirs in zip(QUESTIONS, json.loads(ended.stdout), strict=True):
        ours = asdict(advise(question))
        assert theirs.pop("verdict") == ours.pop("verdict"), question
        assert theirs == pytest.approx(ours, rel=1e-9)


def test_the_gaps_are_those_of_the_rows() -> None:
    found = rows.read(gaps.ROWS)
    assert [(row["workload"], row["n"]) for row in found] == gaps.CASES
    case = ("unit-norm", 1_000)
    (row,) = (row for row in found if (row["workload"], row["n"]) == case)
    assert gaps.measure(*case)["gap"] == pytest.approx(row["gap"], rel=1e-3)
