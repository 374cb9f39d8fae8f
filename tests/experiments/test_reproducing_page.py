"""The documented results are those of the committed rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from sureshot.experiments import document, reproduce

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", reproduce.EXPERIMENTS)
def test_the_page_says_what_the_committed_rows_say(name: str) -> None:
    (section,) = reproduce.sections([name], "small", DOCS / "results" / "reproduce-small")
    text = (DOCS / "reproducing-the-paper.md").read_text(encoding="utf-8")
    lines = document.lines(section, "figures/reproduce-small")
    assert "\n".join([f"<!-- begin {name} -->", *lines, f"<!-- end {name} -->"]) in text
    for picture in section.pictures:
        assert (DOCS / "figures" / "reproduce-small" / f"{picture.name}.svg").exists()
