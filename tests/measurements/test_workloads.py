"""Workloads that are read from files: the files are made here, in the form of the real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from measurements import workloads
from measurements.harness import command
from measurements.speed import run
from measurements.workloads.images import flat

if TYPE_CHECKING:
    from pathlib import Path

ORDERS: Any = ("row", "coordinate")


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    values = np.random.default_rng(0).integers(0, 121, (12, 860), dtype=np.uint8)
    np.savez(tmp_path / "clips.npz", S=values)
    return tmp_path / "clips.npz"


@pytest.fixture
def fashion(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    parts: dict[str, Any] = {
        f"{part}_images_idx3_ubyte": rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        for part, count in (("train", 90), ("t10k", 20))
    }
    np.savez(tmp_path / "fashion.npz", **parts)
    return tmp_path / "fashion.npz"


def test_queries_of_clips_are_other_clips_less_their_mean(clips: Path) -> None:
    made = workloads.make("spectrograms-centred", queries=4, path=clips)
    assert made.data.shape == (8, 860)
    assert made.queries.mean(axis=1) == pytest.approx(np.zeros(4), abs=1e-9)
    plain = workloads.make("spectrograms", queries=4, path=clips)
    assert np.array_equal(plain.data, made.data)
    with np.load(clips) as file:
        both = np.concatenate([plain.data, plain.queries])
        assert {row.tobytes() for row in both.astype(np.uint8)} == {
            row.tobytes() for row in file["S"]
        }


@pytest.mark.parametrize("order", ORDERS)
def test_bytes_become_float32_with_their_queries(clips: Path, order: Any) -> None:
    made = workloads.make("spectrograms-centred", queries=4, order=order, path=clips)
    as_floats = workloads.as_type(made, "float32")
    assert as_floats.data.dtype == as_floats.queries.dtype == np.float32
    assert np.array_equal(as_floats.data, made.data)
    assert as_floats.data.flags.c_contiguous == (order == "row")


def test_clips_are_copied_with_noise(clips: Path) -> None:
    made = workloads.make("spectrograms-copied", n=40, queries=4, path=clips)
    assert made.data.shape == (40, 860)
    assert (made.low, made.high) == (0, 120)
    inner = slice(100, 300)
    same = np.corrcoef(made.data[0, inner], made.data[8, inner])[0, 1]
    other = np.corrcoef(made.data[0, inner], made.data[1, inner])[0, 1]
    assert same > 0.9 > other
    assert not np.array_equal(made.data[0], made.data[8])


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"n": 9}, "at most 12 clips"), ({"queries": 12}, "fewer than 12"), ({"N": 861}, "most 860")],
)
def test_more_clips_than_there_are_is_refused(
    clips: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        workloads.make("spectrograms", **{"queries": 4, **changes}, path=clips)


@pytest.mark.parametrize(
    ("name", "sizes", "shape"),
    [
        ("images", {}, (90, 784)),
        ("images", {"n": 7, "N": 5_000}, (7, 784)),
        ("images-upsampled", {"n": 70}, (70, 316 * 316)),
        ("images-upsampled", {"n": 70, "N": 5_000}, (70, 70 * 70)),
    ],
)
def test_images_have_their_pixels_or_about_as_many_as_wanted(
    fashion: Path, name: str, sizes: dict[str, Any], shape: tuple[int, int]
) -> None:
    made = workloads.make(name, queries=3, path=fashion, **sizes)
    assert made.data.shape == shape
    assert made.data.dtype == made.queries.dtype == np.float32
    assert made.data.min() >= made.low
    assert made.data.max() <= made.high
    assert made.queries.mean(axis=1) == pytest.approx(np.zeros(3), abs=1e-3)


def test_the_corners_of_an_image_stay() -> None:
    image = np.arange(28 * 28).reshape(1, 28, 28)
    larger = flat(image, 55).reshape(55, 55)
    assert np.array_equal(larger[::2, ::2], image[0])
    assert larger[0, 1] == 0.5


@pytest.mark.parametrize(("name", "sizes"), [("n", {"n": 91}), ("queries", {"queries": 21})])
def test_more_images_than_there_are_is_refused(
    fashion: Path, name: str, sizes: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected at most"):
        workloads.make("images", **{"queries": 1, **sizes}, path=fashion)


def test_a_file_that_is_not_there_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = run.parse(["--spectrograms", str(tmp_path / "absent.npz")])
    assert command.lacks_file("spectrograms-copied", settings)
    assert "expected a file, got" in capsys.readouterr().err
    assert command.lacks_file("images", settings)
    assert "it needs --fashion" in capsys.readouterr().err
    assert not command.lacks_file("low-rank", settings)
