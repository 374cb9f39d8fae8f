"""The comparison of pictures sees what a reader would, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sureshot.experiments import drawing
from tests import pictures


def draw(name: str = "one", *, y: float = 3.0, label: str = "share", **more: Any) -> str:
    figure, axes = drawing.grid(name, 1, 2, 6, 3)
    axes[0, 0].plot([1, 2, 3], [1, y, 2], marker="o", label=label)
    axes[0, 0].legend()
    axes[0, 1].errorbar([1, 2], [3, 4], yerr=[0.5, 0.5], marker="s")
    axes[0, 1].scatter([1, 2], [5, 6])
    for one in axes.flat:
        one.set(**{"xlim": (0, 4), "ylim": (0, 10)} | more)
    return drawing.svg(name, figure)


def test_another_machine_changes_nothing() -> None:
    here = draw()
    # Other ids, other fonts with more room, another version in the metadata.
    there = re.sub(r"Matplotlib v[\d.]+", "Matplotlib v9.9", draw("other"))
    assert there != here
    pictures.assert_same(pictures.read(here), pictures.read(there))
    wider = draw(ylabel="\n")
    assert [word for word in pictures.read(wider).words if word.strip()] == pictures.read(
        here
    ).words
    marks = pictures.Picture(pictures.read(here).words, pictures.read(wider).marks)
    pictures.assert_same(pictures.read(here), marks)


@pytest.mark.parametrize("change", [{"y": 3.2}, {"label": "shares"}, {"xlim": (0, 4.1)}])
def test_what_a_reader_sees_is_seen(change: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        pictures.assert_same(pictures.read(draw()), pictures.read(draw(**change)))


def test_a_missing_mark_is_seen() -> None:
    whole = draw()
    mark = whole.index("<use ", whole.index('<g id="PathCollection'))
    without = whole[:mark] + whole[whole.index("/>", mark) + 2 :]
    with pytest.raises(AssertionError):
        pictures.assert_same(pictures.read(whole), pictures.read(without))
