"""The kinds of bounds: what each promises, and what happens when the data breaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import sureshot
from sureshot import Bounds, BoundsError

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array, Floats


@pytest.fixture
def data() -> Array:
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((300, 4)) * rng.lognormal(0, 1, (300, 1))
    values: Floats = factors @ rng.standard_normal((4, 6000)) + rng.standard_normal((300, 6000))
    return values.astype(np.float32)


@pytest.fixture
def query(data: Array) -> Array:
    noise = np.random.default_rng(1).standard_normal(6000)
    found: Array = data[3] + noise
    return found


def kinds(data: Array) -> dict[str, Any]:
    norms = np.linalg.norm(data, axis=1)
    return {
        "scalars": (float(data.min()), float(data.max())),
        "per coordinate": (data.min(axis=0), data.max(axis=0)),
        "per row": (data.min(axis=1, keepdims=True), data.max(axis=1, keepdims=True)),
        "one end per row": (float(data.min()), data.max(axis=1, keepdims=True)),
        "norms": Bounds(norms=norms),
        "largest norm": Bounds(norms=float(norms.max())),
        "both": Bounds(low=-100.0, high=100.0, norms=norms),
        "scan": sureshot.scan(data),
        "scan inside": "scan",
    }


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", list(kinds(np.ones((2, 3), dtype=np.float32))))
def test_every_kind_of_bounds_is_unconditional_and_right(
    kind: str, order: Literal["C", "F"], data: Array, query: Array
) -> None:
    data = np.asarray(data, order=order)
    rows = np.arange(0, 300, 2)
    bounds = kinds(data)[kind]
    found = sureshot.top_k(data, query, 5, bounds=bounds, where=rows, rng=0)
    truth = sureshot.top_k(data, query, 5, method="exact", where=rows)
    assert found.indices.tolist() == truth.indices.tolist()
    assert found.certificate.unconditional
    # Of the 150 rows searched, and of a sample of 128 of them again.
    assert found.work.numbers_scanned == (278 * 6000 if kind == "scan inside" else 0)
    read = (found.work.numbers_read - found.work.numbers_scanned) / (150 * 6000)
    if not found.certificate.exact:
        assert found.certificate.assumption.startswith("unconditional as long as")
    # Limits for all rows are loose, and rows this short are then soon read whole, columns even sooner.
    tight = kind in ("norms", "both", "scan", "scan inside") and order == "C"
    assert read < (0.9 if tight else 1.3)


@pytest.mark.parametrize("method", ["betting", "exact", "bounded-me"])
def test_a_scan_inside_a_call_reads_the_searched_rows_only(data: Array, method: str) -> None:
    rows = np.array([3, 17, 20, 150, 299])
    outside = np.setdiff1d(np.arange(300), rows)
    spoilt = data.copy()
    spoilt[outside] = np.nan
    spoilt[outside[::2]] = 3e38
    query = data[3].astype(np.float64)
    for values in (data, spoilt):
        found = sureshot.top_k(
            values, query, 2, bounds="scan", where=rows, method=method, epsilon=10.0, rng=0
        )
        assert found.indices[0] == 3
        assert found.work.numbers_scanned == 2 * 5 * 6000
        assert found.work.share <= 4
    # As if the other rows were not there.
    alone = sureshot.top_k(data[rows], query, 2, bounds="scan", method=method, epsilon=10.0, rng=0)
    np.testing.assert_array_equal(alone.scores, found.scores)
    assert alone.work.numbers_read == found.work.numbers_read
    spoilt[20, 7] = np.nan
    with pytest.raises(ValueError, match="data row 20 holds values that are not finite"):
        sureshot.top_k(spoilt, query, 2, bounds="scan", where=rows, method=method, epsilon=10.0)


def test_a_batch_counts_its_scan_once(data: Array, query: Array) -> None:
    found = sureshot.top_k(data, np.stack([query, -query]), 3, bounds="scan", rng=0)
    scanned = [one.work.numbers_scanned for one in found.queries]
    assert scanned == [428 * 6000, 0]
    assert found.work.numbers_scanned == sum(scanned)
    assert found.queries[1].work.share < 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "bool"])
def test_integers_bring_their_own_limits(dtype: str) -> None:
    rng = np.random.default_rng(2)
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    data = rng.integers(low, high, (200, 4000), endpoint=True).astype(dtype)
    data[7] = np.where(rng.random(4000) < 0.9, high, low)
    found = sureshot.top_k(data, np.ones(4000), 1, rng=0)
    assert found.indices.tolist() == [7]
    assert f"of type {dtype}" in found.certificate.assumption


def test_unit_rows_may_be_off_by_the_rounding_of_their_type(data: Array) -> None:
    unit = data / np.linalg.norm(data, axis=1, keepdims=True)
    assert (np.linalg.norm(unit.astype(np.float64), axis=1) > 1).any()
    found = sureshot.top_k(unit, unit[3], 3, bounds="unit", rng=0)
    assert found.indices[0] == 3
    assert found.certificate.assumption == "unconditional as long as no row has a norm above 1"


def test_distances_need_no_bounds(data: Array, query: Array) -> None:
    for metric in ("sqeuclidean", "l1"):
        found = sureshot.top_k(data, query, 5, metric=metric, rng=0)
        truth = sureshot.top_k(data, query, 5, metric=metric, method="exact")
        assert found.indices.tolist() == truth.indices.tolist()
        assert found.certificate.assumption.startswith("unconditional")
        assert found.work.share < 0.9


def test_a_scan_is_true_and_can_be_saved(tmp_path: Path, data: Array) -> None:
    found = sureshot.scan(data, threads=2)
    assert found.reach is not None
    assert found.middle is not None
    assert found.scale is not None
    scaled = np.abs(data - found.middle) / found.scale
    np.testing.assert_allclose(found.reach, scaled.max(axis=1), rtol=1e-12)
    assert found.norms is not None
    np.testing.assert_allclose(
        np.asarray(found.norms), np.linalg.norm(data.astype(np.float64), axis=1), rtol=1e-12
    )
    assert "300 rows of 6000" in repr(found)
    found.save(tmp_path / "bounds.npz")
    again = Bounds.load(tmp_path / "bounds.npz")
    for name in ("norms", "middle", "scale", "reach"):
        assert np.array_equal(getattr(found, name), getattr(again, name))
    for strided in (np.asfortranarray(data), data[::-1, ::-1][::-1, ::-1]):
        other = sureshot.scan(strided)
        assert other.reach is not None
        assert np.array_equal(other.reach, found.reach)


@pytest.mark.parametrize(("place", "value"), [(6, 1), (8, 8), (8, 77)])
def test_saved_bounds_that_claim_to_be_packed_or_encrypted_are_refused(
    place: int, value: int, data: Array, tmp_path: Path
) -> None:
    """The flags and the method of packing, of the first array and in the table at the end of the file."""
    path = tmp_path / "bounds.npz"
    sureshot.scan(data).save(path)
    written = bytearray(path.read_bytes())
    written[place] = value
    written[written.index(b"PK\x01\x02") + place + 2] = value
    path.write_bytes(written)
    with pytest.raises(ValueError, match="does not hold saved bounds"):
        Bounds.load(path)


def test_a_scan_of_other_data_is_refused(tmp_path: Path, data: Array) -> None:
    scan = sureshot.scan(data)
    with pytest.raises(ValueError, match=r"scan of data of shape \(300, 6000\), got data of \(299"):
        sureshot.top_k(data[:-1], data[0], 3, bounds=scan)
    (tmp_path / "no.npz").write_bytes(b"no zip")
    with pytest.raises(ValueError, match="does not hold saved bounds"):
        Bounds.load(tmp_path / "no.npz")
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="does not hold bounds saved in format"):
        Bounds.load(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError):
        Bounds.load(tmp_path / "missing.npz")
    broken = data.copy()
    broken[4, 5] = np.nan
    with pytest.raises(ValueError, match="data row 4 holds values that are not finite"):
        sureshot.scan(broken)


@pytest.mark.parametrize("method", ["betting", "bounded-me"])
def test_values_outside_the_limits_stop_the_search(method: str, data: Array, query: Array) -> None:
    options: dict[str, Any] = {"epsilon": 1e6} if method == "bounded-me" else {}
    with pytest.raises(
        BoundsError, match=r"data row \d+ has reward .* in block \d+ .*wider bounds"
    ):
        sureshot.top_k(data, query, 5, bounds=(-0.01, 0.01), method=method, rng=0, **options)


def test_larger_norms_than_declared_stop_the_search(data: Array, query: Array) -> None:
    norms = np.linalg.norm(data, axis=1)
    norms[3] *= 0.05
    with pytest.raises(BoundsError, match=r"data row 3 has a norm of at least .* larger norms"):
        sureshot.top_k(data, query, 5, bounds=Bounds(norms=norms), rng=0)


def test_data_that_changed_after_its_scan_stops_the_search(data: Array, query: Array) -> None:
    scan = sureshot.scan(data)
    data[:, ::3] *= 50
    with pytest.raises(BoundsError):
        sureshot.top_k(data, query, 5, bounds=scan, rng=0)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (Bounds(low=0.0), "both low and high"),
        (Bounds(norms=-1.0), "finite norms of at least 0"),
        (Bounds(norms=np.ones(4)), "one for each of the 300 rows; got norms of shape"),
        ((np.zeros(6000), np.ones((300, 1))), "per coordinate or per row"),
        ("units", "'unit', 'scan'"),
        ((0.0, np.ones(7)), r"shape \(6000,\), one entry per coordinate, or of shape \(300, 1\)"),
    ],
)
def test_bounds_that_make_no_sense(bounds: Any, message: str, data: Array) -> None:
    with pytest.raises(ValueError, match=message):
        sureshot.top_k(data, data[0], 3, bounds=bounds)


def test_only_a_complete_proof_is_called_unconditional(data: Array, query: Array) -> None:
    limits = (float(data.min()), float(data.max()))
    scan = sureshot.scan(data)
    proved = sureshot.top_k(data, query, 5, bounds=scan, rng=0).certificate
    assert not proved.exact
    assert proved.unconditional
    estimated = sureshot.top_k(data, query, 5, rng=0).certificate
    assert not estimated.exact
    assert not estimated.unconditional
    published = sureshot.top_k(
        data, query, 5, bounds=limits, method="bounded-me", epsilon=3e6, rng=0
    ).certificate
    assert not published.exact
    assert not published.unconditional
    assert "as published" in published.assumption
    assert "unconditional" not in published.assumption


def test_two_limits_that_were_checked_before_are_those_of_the_type(
    data: Array, query: Array
) -> None:
    largest = 1.01 * float(np.abs(data).max())
    limits = (-largest, largest)
    same = (np.float64(-largest), np.float64(largest))
    for dtype in (np.float64, np.float32, np.float16, np.float32):
        rows = data.astype(dtype)
        first, again = (sureshot.top_k(rows, query, 3, bounds=limits, rng=1) for _ in range(2))
        expected = sureshot.top_k(rows, query, 3, bounds=same, rng=1)
        for found in (first, again):
            assert found.certificate == expected.certificate
            assert found.work.numbers_read == expected.work.numbers_read
            np.testing.assert_array_equal(found.scores, expected.scores)
    for _ in range(2):
        with pytest.raises(ValueError, match="low < high"):
            sureshot.top_k(data, query, 3, bounds=(1.0, 1.0))
