"""Asks the queries of a call on a device, as many at once as share their launches, and writes down the results."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sureshot.result import TopK, share_time, stack

if TYPE_CHECKING:
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
        _ask(search, queries, 1, stream)
        record, scores, positions = search.records[0], search.scores[0], search.positions[0]
        kind.refuse_bad(record, search.epoch)
        kind.refuse_long(scores, positions, record.square)
        return kind.result(record, scores, positions, time.perf_counter() - started)
    parts = []
    left = queries if first is None else queries.after(1)
    while left.n_queries:
        count = min(search.together, left.n_queries)
        _ask(search, left, count, stream)
        part = search.work[:count], search.scores[:count], search.positions[:count]
        kind.refuse_any(*part, search.epoch)
        parts.append((part[0].copy(), part[1].copy(), part[2].astype(np.int64)))
        left = left.after(count)
    works, scores, positions = (
        parts[0] if len(parts) == 1 else (np.concatenate(some) for some in zip(*parts, strict=True))
    )
    seconds = time.perf_counter() - started
    found = kind.results(works, scores, positions, seconds)
    return found if first is None else stack(share_time([first, *found.queries], seconds))


def _ask(search: Search, queries: Queries, count: int, stream: Any) -> None:
    search.begin(queries.pointer, queries.stride, count, queries.seed, queries.epsilon, stream)
    search.wait(count, stream)
