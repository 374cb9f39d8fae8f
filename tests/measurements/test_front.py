"""The race of the front page is drawn from its record, and the record is a search that was right."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from measurements.front import race
from sureshot.experiments import rows

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_that_of_the_record() -> None:
    (row,) = rows.read(race.ROWS)
    committed = race.PICTURE.read_text(encoding="utf-8")
    assert committed == race.svg(row)
    drawn = ET.fromstring(committed).iter(f"{SVG}rect")
    bars = [float(one.attrib["width"]) for one in drawn if one.attrib["class"] != "track"]
    pulls = [width / race.WIDTH * race.REWARDS for width in bars]
    assert pulls == pytest.approx(row["pulls"][-1], abs=1)


def test_the_record_is_of_a_right_answer() -> None:
    (row,) = rows.read(race.ROWS)
    means = race.arms().mean(axis=1)
    assert means[row["best"]] >= means.max() - row["epsilon"]
    assert (np.diff(row["pulls"], axis=0) >= 0).all()


def test_a_search_is_recorded() -> None:
    row = race.record()
    assert row["best"] == race.arms().mean(axis=1).argmax()
    assert "With probability at least 0.95" in row["certificate"]
