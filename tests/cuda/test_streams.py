"""Streams and threads: searches of one matrix share their buffers, and never at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from tests.cuda.fake_driver import FakeArray
from tests.cuda.populations import low_rank

if TYPE_CHECKING:
    from tests.cuda.fake_driver import FakeDriver


@pytest.fixture
def waited(card: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the streams that were waited for."""
    streams: list[int] = []

    def synchronise(stream: int) -> tuple[int]:
        streams.append(stream)
        return (0,)

    monkeypatch.setattr(card, "cuStreamSynchronize", synchronise, raising=False)
    return streams


def test_another_stream_waits_for_the_one_before(waited: list[int]) -> None:
    """An answer may be there before the last kernels, which have nothing to do, have ended."""
    rows, query = low_rank(np.random.default_rng(2), 500, 4000)
    array: Any = FakeArray(rows, stream=5)
    bounds = sureshot.scan(array)
    waited.clear()
    for stream, expected in ((5, []), (5, []), (6, [5]), (6, []), (5, [6])):
        array.stream = stream
        sureshot.top_k(array, query, 5, bounds=bounds, rng=1)
        assert waited == expected
        waited.clear()


def test_a_query_of_another_stream_is_waited_for(waited: list[int]) -> None:
    rows, query = low_rank(np.random.default_rng(2), 500, 4000)
    array: Any = FakeArray(rows, stream=5)
    asked: Any = FakeArray(query, stream=9)
    bounds = sureshot.scan(array)
    waited.clear()
    sureshot.top_k(array, asked, 5, bounds=bounds)
    assert waited == [9]


def test_threads_get_the_answers_that_they_get_alone(card: FakeDriver) -> None:
    assert card is not None
    rows, query = low_rank(np.random.default_rng(2), 300, 3000)
    array: Any = FakeArray(rows)
    bounds = sureshot.scan(array)
    queries = [query + 0.2 * rows[at] for at in range(12)]

    def ask(at: int) -> list[int]:
        found = sureshot.top_k(array, queries[at], 5, bounds=bounds, rng=at)
        return [int(one) for one in found.indices]

    alone = [ask(at) for at in range(12)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, range(12))) == alone
