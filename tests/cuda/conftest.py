"""A card for tests that need none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sureshot.cuda import driver, matrix, plan
from tests.cuda.fake_driver import FakeDriver, install

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def small_data_is_raced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let data of tests race, and have a second chance, which is all small: a test of small data sets this back."""
    monkeypatch.setattr(plan, "SMALL_BYTES", 0)
    monkeypatch.setattr(plan, "CHANCE_BYTES", 0)


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    """Let the library believe that there is a card, whose kernels are the reference."""
    yield install(monkeypatch)
    driver.device.cache_clear()
    matrix.module.cache_clear()
