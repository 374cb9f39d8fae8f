"""What a search on a device refuses, and how it says so: nothing here needs a card."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import sureshot
from sureshot.cuda import driver
from sureshot.cuda.arrays import device_array
from sureshot.cuda.request import declared, limits
from sureshot.errors import BoundsError
from tests.cuda.fake_driver import FakeArray, FakeDriver, install, on_card

ROWS, WIDTH = 400, 640


def data(**changes: Any) -> Any:
    rng = np.random.default_rng(changes.pop("seed", 0))
    values = rng.standard_normal((ROWS, WIDTH)).astype(np.float32)
    return on_card(changes.get("values", values))


QUERY = np.random.default_rng(1).standard_normal(WIDTH).astype(np.float32)


def refused(
    error: type[Exception], match: str, array: Any, query: Any = QUERY, **asked: Any
) -> None:
    with pytest.raises(error, match=match):
        sureshot.top_k(array, query, **{"k": 3, **asked})


@pytest.mark.parametrize(
    ("asked", "error", "match"),
    [
        ({"k": 0}, ValueError, "k must be"),
        ({"k": ROWS + 1}, ValueError, r"k must be at most"),
        ({"k": 1001}, ValueError, "k must be at most 1000 on a device, got 1001"),
        ({"k": 2.5}, TypeError, "k must be"),
        ({"metric": "l1"}, ValueError, "metric of a search on a device"),
        ({"metric": 3}, (TypeError, ValueError), "metric of a search on a device"),
        ({"epsilon": -1}, ValueError, "epsilon"),
        ({"epsilon": float("nan")}, ValueError, "epsilon"),
        ({"delta": 0}, ValueError, "delta"),
        ({"delta": 1.5}, ValueError, "delta"),
        ({"method": "bounded-me"}, ValueError, "method of a search on a device"),
        ({"method": "lucb"}, ValueError, "'betting', 'exact'|betting"),
        ({"budget": 0.5}, ValueError, "takes no budget"),
        ({"budget_seconds": 1.0}, ValueError, "takes no budget_seconds"),
        ({"threads": 2}, ValueError, "takes no threads"),
        ({"block": 16}, ValueError, "takes no block"),
        ({"progress": print}, ValueError, "takes no progress"),
        ({"expected_score": 3.0}, ValueError, "takes no expected_score"),
        ({"replacement": True}, ValueError, "takes no replacement"),
        ({"where": np.zeros(ROWS, dtype=bool)}, ValueError, "where|selected"),
        ({"where": [1, 1, 2, 3]}, ValueError, "where"),
        ({"where": [ROWS]}, (ValueError, IndexError), "where"),
        ({"where": np.ones(ROWS + 1, dtype=bool)}, ValueError, "where"),
        ({"row_scale": np.ones(ROWS - 1)}, ValueError, "row_scale"),
        ({"row_scale": np.zeros(ROWS)}, ValueError, "row_scale"),
        ({"row_scale": np.ones(ROWS), "metric": "cosine"}, ValueError, "row_scale"),
        ({"rng": -1}, ValueError, "negative|rng"),
        ({"rng": "seed"}, TypeError, "rng"),
        ({"bounds": "half"}, ValueError, "bounds"),
        ({"bounds": (1.0, -1.0)}, ValueError, "bounds"),
        ({"bounds": sureshot.Bounds(norms=np.ones(3))}, ValueError, "norms"),
        ({"bounds": (np.full(WIDTH, -9.0), np.full(WIDTH, 9.0))}, ValueError, "two numbers"),
    ],
)
def test_arguments(card: FakeDriver, asked: dict[str, Any], error: Any, match: str) -> None:
    refused(error, match, data(), **asked)
    assert "exact_3" not in card.launched


@pytest.mark.parametrize(
    ("query", "error", "match"),
    [
        (np.ones(WIDTH - 1), ValueError, f"{WIDTH}"),
        (np.ones((2, 3, WIDTH)), ValueError, "dimensions"),
        (np.full(WIDTH, np.nan), ValueError, "finite"),
        (np.ones((0, WIDTH)), ValueError, "query|queries"),
        (["a"] * WIDTH, (TypeError, ValueError), "query"),
        (on_card(np.ones(WIDTH - 1)), ValueError, f"{WIDTH} coordinates"),
        (on_card(np.ones((2, 3, WIDTH))), ValueError, "1 or 2 dimensions"),
        (on_card(np.ones((0, WIDTH))), ValueError, "at least one query"),
        (on_card(np.full(WIDTH, np.inf, dtype=np.float32)), ValueError, "finite"),
    ],
)
def test_queries(card: FakeDriver, query: Any, error: Any, match: str) -> None:
    assert card is not None
    refused(error, match, data(), query, bounds="unit" if isinstance(query, FakeArray) else None)


@pytest.mark.parametrize(
    ("values", "error", "match"),
    [
        (
            np.zeros((ROWS, WIDTH)),
            TypeError,
            "float32, float16, bfloat16, int8, uint8, got float64",
        ),
        (np.zeros((ROWS, WIDTH), dtype=np.int16), TypeError, "got int16"),
        (np.zeros((ROWS, WIDTH), dtype=">f4"), TypeError, "byte order"),
        (np.zeros((ROWS, WIDTH), dtype=np.complex64), TypeError, "complex64"),
        (np.zeros(WIDTH, dtype=np.float32), ValueError, "2 dimensions"),
        (np.zeros((0, WIDTH), dtype=np.float32), ValueError, "not be empty"),
        (np.zeros((ROWS, 2 * WIDTH), dtype=np.float32)[:, ::2], ValueError, "follow each other"),
    ],
)
def test_data(card: FakeDriver, values: Any, error: Any, match: str) -> None:
    refused(error, match, data(values=values))
    with pytest.raises(error, match=match):
        sureshot.scan(data(values=values))
    assert card.launched == []


def test_data_that_is_not_finite_is_refused_where_it_is_found(card: FakeDriver) -> None:
    assert card is not None
    values = data().values.copy()
    values[17, 5] = np.inf
    refused(ValueError, "data row 17", on_card(values))
    with pytest.raises(ValueError, match="data row 17"):
        sureshot.scan(on_card(values))


def test_data_outside_its_bounds_is_refused(card: FakeDriver) -> None:
    assert card is not None
    refused(BoundsError, "outside the bounds", data(), bounds=(-1.0, 1.0))
    refused(BoundsError, "longer than its norm", data(), bounds="unit")


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_limit_means_the_nearest_number_of_the_type(card: FakeDriver, dtype: Any) -> None:
    """0.1 is 0.1 of the data's type, which may be a little more."""
    assert card is not None
    values = np.full((ROWS, WIDTH), 0.1, dtype=dtype)
    assert sureshot.top_k(on_card(values), QUERY, 3, bounds=(-0.1, 0.1)).certificate.exact
    refused(BoundsError, "outside the bounds", on_card(values), bounds=(-0.1, 0.099))


@pytest.mark.parametrize("limit", [0.1, -3.3, 1e-30, 257.0, 1e38])
def test_the_nearest_number_of_bfloat16(limit: float) -> None:
    known = declared((-abs(limit), abs(limit)), device_array(data(), "data"))
    nearest = float(np.float64(limit).astype(ml_dtypes.bfloat16))
    assert limits(known, "bfloat16") == (
        -max(abs(limit), abs(nearest)),
        max(abs(limit), abs(nearest)),
    )


def test_rows_and_queries_without_a_direction(card: FakeDriver) -> None:
    assert card is not None
    values = data().values.copy()
    values[3] = 0
    refused(ValueError, "data row 3 has norm 0", on_card(values), metric="cosine")
    refused(ValueError, "not all zeros", data(), np.zeros(WIDTH), metric="cosine")
    found = sureshot.top_k(on_card(values), QUERY, 3, metric="cosine", where=np.arange(4, ROWS))
    assert found.certificate.exact


def test_a_query_on_another_device(card: FakeDriver) -> None:
    assert card is not None
    far = on_card(QUERY)
    far.device = SimpleNamespace(id=1)
    refused(ValueError, "must lie on device 0 like data, got device 1", data(), far)


def test_a_card_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, capability=(7, 5))
    refused(driver.CudaError, "8.0 or newer, got a card of 7.5", data())
    driver.device.cache_clear()


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package, and without a card, the error names what is missing."""
    driver.bindings.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "cuda.bindings", None)
    refused(ImportError, r"sureshot\[cuda\]", data())
    driver.bindings.cache_clear()


def test_scans_take_few_arguments(card: FakeDriver) -> None:
    assert card is not None
    with pytest.raises(ValueError, match="takes no threads"):
        sureshot.scan(data(), threads=2)
    with pytest.raises(ValueError, match="save must name a file"):
        sureshot.scan(data(), save=True)


def test_limits_of_each_coordinate_are_refused(card: FakeDriver) -> None:
    assert card is not None
    values = np.random.default_rng(0).random((300, 40), dtype=np.float32)
    for low, high in ((np.zeros(40), np.ones(40)), (np.zeros((300, 1)), np.ones((300, 1)))):
        for bounds in ((low, high), sureshot.Bounds(low=low, high=high)):
            with pytest.raises(
                ValueError, match=r"two numbers, norms or a scan, got limits of sha"
            ):
                sureshot.top_k(on_card(values), values[0], bounds=bounds)
