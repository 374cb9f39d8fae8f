"""The documented results are those of the committed rows, at the paper's sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from measurements.harness.page import DOCS
from measurements.paper import document
from sureshot.experiments import drawing, fig1, reproduce, rows, synthetic
from tests import pictures

if TYPE_CHECKING:
    from sureshot.experiments.section import Section

ROWS = DOCS / "results" / "reproduce-paper"


@pytest.fixture(scope="module", params=reproduce.EXPERIMENTS)
def section(request: pytest.FixtureRequest) -> Section:
    (found,) = reproduce.sections([request.param], "paper", ROWS)
    return found


def test_the_page_says_what_the_committed_rows_say(section: Section) -> None:
    text = (DOCS / "reproducing-the-paper.md").read_text(encoding="utf-8")
    lines = document.lines(section, "figures/reproduce-paper")
    begin, end = f"<!-- begin {section.name} -->", f"<!-- end {section.name} -->"
    assert "\n".join([begin, *lines, end]) in text


def test_the_committed_figures_are_drawn_from_the_committed_rows(section: Section) -> None:
    for picture in section.pictures:
        path = DOCS / "figures" / "reproduce-paper" / f"{picture.name}.svg"
        drawn = drawing.svg(picture.name, picture.figure)
        committed = pictures.read(path.read_text(encoding="utf-8"))
        assert all(committed.marks)
        pictures.assert_same(pictures.read(drawn), committed)


@pytest.mark.parametrize("name", ["fig1", "fig2", "fig3", "table1"])
def test_no_row_of_the_paper_is_missing(name: str) -> None:
    experiment = reproduce.EXPERIMENTS[name]
    found = rows.read(reproduce.rows_file(ROWS, name))
    assert rows.missing(experiment.cases("paper"), found) == []


def test_the_sizes_are_those_of_the_paper() -> None:
    assert synthetic.SHAPES["paper"] == (10_000, 100_000)
    sizes = fig1.SCALES["paper"]
    assert (sizes.n_arms, sizes.n_rewards, max(sizes.epsilons), sizes.runs) == (
        10_000,
        100_000,
        0.6,
        20,
    )
