"""The tables of the pages are those of the committed rows."""

from __future__ import annotations

import numpy as np
import pytest

from measurements.estimators import table as estimators_table
from measurements.gpu import figure as gpu_figure
from measurements.gpu import table as gpu_table
from measurements.harness.page import DOCS
from measurements.plane import figure as plane_figure
from measurements.plane import table as plane_table
from measurements.plane.cases import BATCHES
from measurements.policy import rules
from measurements.share import run as share
from measurements.share import table
from measurements.solvers import table as solvers_table
from measurements.speed import figure
from measurements.speed import table as speed_table
from measurements.theory import budget, device_steps, few_arms, steps_to_drop
from sureshot.experiments import drawing, rows
from tests import pictures


def assert_on_page(page: str, name: str, lines: list[str]) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert "\n".join([f"<!-- begin {name} -->", *lines, f"<!-- end {name} -->"]) in text


def test_policy() -> None:
    found = rows.read(DOCS / "results" / "policy.jsonl")
    assert all(row["precision"] == 1 for row in found)
    for name, lines in rules.tables(found).items():
        assert_on_page("policy.md", name, lines)


def test_share() -> None:
    found = rows.read(DOCS / "results" / "share-small.jsonl")
    assert_on_page("share.md", "small", table.lines(found, table.VALUES["share"]))


def test_speed() -> None:
    found = rows.read(DOCS / "results" / "speed-full.jsonl")
    for name, lines in speed_table.TABLES.items():
        assert_on_page("benchmarks.md", name, lines(found))
    committed = pictures.read((DOCS / "figures" / "speed.svg").read_text(encoding="utf-8"))
    assert any(committed.marks)
    drawn = drawing.svg(figure.NAME, speed_table.picture(found))
    pictures.assert_same(pictures.read(drawn), committed)


def test_gpu() -> None:
    found = rows.read(DOCS / "results" / gpu_table.ROWS)
    assert all(row["right"] >= row["asked"] - 1 for row in found)
    assert_on_page(gpu_table.PAGE, "gpu", gpu_table.lines(found))
    assert_on_page(gpu_table.PAGE, "gpu machine", gpu_table.sentence(found))
    committed = pictures.read((DOCS / "figures" / "gpu.svg").read_text(encoding="utf-8"))
    drawn = drawing.svg(gpu_figure.NAME, gpu_figure.picture(found))
    pictures.assert_same(pictures.read(drawn), committed)


def test_plane() -> None:
    found = rows.read(DOCS / "results" / "plane.jsonl")
    assert_on_page("benchmarks.md", "plane summary", plane_table.summary(found))
    assert_on_page("benchmarks.md", "plane", plane_table.plane(found, BATCHES))
    assert_on_page("benchmarks.md", "metrics", plane_table.metrics(found))
    committed = pictures.read((DOCS / "figures" / "plane.svg").read_text(encoding="utf-8"))
    drawn = drawing.svg(plane_figure.NAME, plane_figure.picture(found))
    pictures.assert_same(pictures.read(drawn), committed)


def test_estimators() -> None:
    # Without rows there is no table.
    found = rows.read(DOCS / "results" / "estimators.jsonl")
    assert_on_page("estimators.md", "estimators", estimators_table.lines(found) if found else [])


def test_solvers() -> None:
    found = rows.read(DOCS / "results" / "solvers.jsonl")
    for name, lines in solvers_table.TABLES.items():
        assert_on_page("solvers.md", name, lines(found) if found else [])
    path = DOCS / "figures" / f"{solvers_table.NAME}.svg"
    assert path.exists() == bool(found)
    if found:
        drawn = drawing.svg(solvers_table.NAME, solvers_table.picture(found))
        committed = pictures.read(path.read_text(encoding="utf-8"))
        pictures.assert_same(pictures.read(drawn), committed)


def test_few_arms() -> None:
    wanted = few_arms.cases(few_arms.POPULATIONS)
    found = rows.read(DOCS / "results" / "few-arms.jsonl")
    assert rows.missing(wanted, found) == []
    assert_on_page("theory.md", "few arms", few_arms.lines(rows.belonging(wanted, found)))


def test_device_steps() -> None:
    found = rows.read(DOCS / "results" / "device-steps.jsonl")
    assert rows.missing(device_steps.cases(), found) == []
    assert_on_page(
        "theory.md", "device steps", device_steps.lines(rows.belonging(device_steps.cases(), found))
    )


def test_budget() -> None:
    found = rows.read(DOCS / "results" / "budget.jsonl")
    assert rows.missing(budget.cases(), found) == []
    assert_on_page("theory.md", "budget", budget.lines(rows.belonging(budget.cases(), found)))


def test_steps_to_drop() -> None:
    found = rows.read(DOCS / "results" / "steps-to-drop.jsonl")
    text = (DOCS / "figures" / "steps-to-drop.svg").read_text(encoding="utf-8")
    committed = pictures.read(text)
    assert all(committed.marks)
    drawn = drawing.svg(steps_to_drop.NAME, steps_to_drop.picture(found))
    pictures.assert_same(pictures.read(drawn), committed)


def test_the_steps_are_those_of_the_rows() -> None:
    found = rows.read(DOCS / "results" / "steps-to-drop.jsonl")
    length, gap = 1_000, steps_to_drop.FIXED_GAP
    rng = np.random.default_rng([steps_to_drop.SEED, length, round(1000 * gap)])
    arms = steps_to_drop.draw(steps_to_drop.QUIET, length, gap, rng)
    for name, method in steps_to_drop.METHODS.items():
        (row,) = (
            row
            for row in found
            if (row["kind"], row["method"]) == (steps_to_drop.QUIET, name)
            and (row["n_rewards"], row["gap"]) == (length, gap)
        )
        assert method(arms).mean() == pytest.approx(row["mean"], rel=1e-3)


@pytest.mark.parametrize("kind", few_arms.KINDS)
def test_a_population_of_few_arms_is_what_the_page_says(kind: str) -> None:
    case = few_arms.FewArmsCase(20, 20_000, kind, 1, 0.05, few_arms.DELTA, 0, "leaders")
    table = few_arms.make(case)
    means = sorted(table.mean(axis=1))
    assert means[-2:] == pytest.approx([0.77, 0.80], abs=0.02)
    assert (means[0], means[-3]) == pytest.approx((0.40, 0.75), abs=0.02)
    fair = means[-1] * (1 - means[-1]) / (1 if kind == "two-valued" else 5)
    assert table[table.mean(axis=1).argmax()].var() == pytest.approx(fair, rel=0.1)
    shares = {
        method: few_arms.measure(few_arms.FewArmsCase(20, 2_000, kind, 5, 0.05, 0.05, 0, method))[
            "share"
        ]
        for method in few_arms.MOST_ARMS
    }
    assert 0 < shares["leaders"] < shares["race"] < 1


def test_the_table_of_shares_is_that_of_the_small_size(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        share.parse(["--write"])
    assert "add --small" in capsys.readouterr().err
    assert share.parse(["--write", "--small"]).write
