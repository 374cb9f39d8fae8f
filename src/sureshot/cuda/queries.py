"""Asks the queries of a call on a device, as many at once as share their launches, and writes down the results."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sureshot.cuda.layout import AGAIN
from sureshot.result import TopK, share_time, stack

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.cuda.answers import Kind
    from sureshot.cuda.search import Search


class Queries(NamedTuple):
    """Queries on a device, one after the other."""

    pointer: int
    stride: int  # from one to the next, in elements
    itemsize: int
    n_queries: int
    single: bool  # asked for as a vector and not as a matrix
    seed: int
    epsilon: float

    def after(self, done: int) -> Queries:
        """Return those that are left after some of them."""
        place = self.pointer + done * self.stride * self.itemsize
        return self._replace(pointer=place, n_queries=self.n_queries - done)


def answered(
    queries: Queries, search: Search, kind: Kind, stream: Any, started: float, first: TopK | None
) -> TopK:
    """Return the answers, after that of the first query if it is known already."""
    if queries.single:
        record, scores, positions = search.records[0], search.scores[0], search.positions[0]
        _ask(search, queries, 1, stream)
        kind.refuse_bad(record, search.epoch)
        kind.refuse_long(scores, positions, record.square)
        return kind.result(record, scores, positions, time.perf_counter() - started)
    parts = []
    left = queries if first is None else queries.after(1)
    while left.n_queries:
        count = min(search.together, left.n_queries)
        _ask(search, left, count, stream)
        works, scores, positions = (
            search.works(count),
            search.scores[:count].copy(),
            search.positions[:count].astype(np.int64),
        )
        if AGAIN in works["reason"].tolist():
            _ask_again(search, left, works, scores, positions, stream)
        kind.refuse_any(works, scores, positions, search.epoch)
        parts.append((works, scores, positions))
        left = left.after(count)
    works, scores, positions = (
        parts[0] if len(parts) == 1 else (np.concatenate(some) for some in zip(*parts, strict=True))
    )
    seconds = time.perf_counter() - started
    found = kind.results(works, scores, positions, seconds)
    return found if first is None else stack(share_time([first, *found.queries], seconds))


def _ask_again(
    search: Search, queries: Queries, works: Any, scores: Floats, positions: Ints, stream: Any
) -> None:
    """Ask those queries once more, each alone, that the lists of a batch had no room for: many arms share their scores."""
    for at in np.flatnonzero(works["reason"] == AGAIN).tolist():
        alone = search.alone_again()
        _ask(alone, queries.after(at), 1, stream)
        works[at], scores[at], positions[at] = alone.work[0], alone.scores[0], alone.positions[0]
        for name in ("bad_query", "bad_norm", "bad_score"):  # as the other search counts
            works[name][at] = search.epoch if works[name][at] == alone.epoch else 0


def _ask(search: Search, queries: Queries, count: int, stream: Any) -> None:
    """Launch the kernels and wait for the answer."""
    search.begin(queries.pointer, queries.stride, count, queries.seed, queries.epsilon, stream)
    search.wait(count, stream)
