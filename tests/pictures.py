"""What a drawn picture says: its words, and its marks within their axes.

Never its bytes: ids in the file, the room that words take and with it every position on the page
depend on the processor, the fonts and the version of matplotlib.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._types import Floats

SVG = "{http://www.w3.org/2000/svg}"
# Of the width and height of the axes: no eye sees less.
TOLERANCE = 0.005
# What stands around the data; its words count, its position does not.
FURNITURE = ("matplotlib.axis", "legend", "patch", "text")


@dataclass(frozen=True)
class Picture:
    """What a picture says."""

    words: list[str]
    marks: list[list[Floats]]  # of each axes, each thing drawn: its points, from 0 to 1


def read(svg: str) -> Picture:
    """Read a picture that matplotlib wrote as SVG."""
    root = ET.fromstring(svg)
    words = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    axes = [group for group in root.iter(f"{SVG}g") if _is(group, "axes")]
    return Picture(words, [_marks(one) for one in axes])


def assert_same(one: Picture, other: Picture) -> None:
    """Fail unless two pictures say the same."""
    assert one.words == other.words
    assert [len(marks) for marks in one.marks] == [len(marks) for marks in other.marks]
    for mine, theirs in zip(chain(*one.marks), chain(*other.marks), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=TOLERANCE, rtol=0)


def _is(group: ET.Element, *kinds: str) -> bool:
    return group.get("id", "").startswith(kinds)


def _marks(axes: ET.Element) -> list[Floats]:
    frame = next(_points(path) for path in axes.iter(f"{SVG}path"))
    low, high = frame.min(axis=0), frame.max(axis=0)
    drawn = (group for group in axes if not _is(group, *FURNITURE))
    found = [points for group in drawn for points in _drawn(group)]
    return [(points - low) / (high - low) for points in found]


def _drawn(element: ET.Element) -> Iterator[Floats]:
    for child in element:
        if child.tag == f"{SVG}path":
            yield _points(child)
        elif child.tag == f"{SVG}use":
            yield np.array([[float(child.get("x", "0")), float(child.get("y", "0"))]])
        elif child.tag != f"{SVG}defs":
            yield from _drawn(child)


def _points(path: ET.Element) -> Floats:
    numbers = re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", path.get("d", ""))
    return np.array(numbers, dtype=np.float64).reshape(-1, 2)
