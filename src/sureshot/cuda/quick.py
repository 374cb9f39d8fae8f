"""The short way of a call that is like an earlier one: of what was checked then only what may differ is checked again.

A search takes less than a tenth of a millisecond, and all checks of a call would take as long.
"""

from __future__ import annotations

import sys
import time
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from sureshot.cuda import driver
from sureshot.cuda.arrays import torch_stream
from sureshot.cuda.request import seed_of

if TYPE_CHECKING:
    from sureshot.cuda.answers import Kind
    from sureshot.cuda.matrix import DeviceMatrix
    from sureshot.cuda.search import Search
    from sureshot.result import TopK

# Kinds of calls that are remembered of a tensor.
MOST_KINDS = 64


class Ready(NamedTuple):
    """A call that was made before."""

    search: Search
    kind: Kind
    bounds: Any
    query_type: Any  # of torch
    query_shape: Any


class Known(NamedTuple):
    """A tensor that was searched before."""

    reference: weakref.ref[Any]
    version: int
    pointer: int
    shape: Any
    device: int
    matrix: DeviceMatrix
    ready: dict[Any, Ready]


_known: dict[int, Known] = {}


def remember(
    data: Any, query: Any, key: Any, bounds: Any, matrix: DeviceMatrix, search: Search, kind: Kind
) -> None:
    """Remember a call with a single query of torch on a tensor of torch."""
    torch = sys.modules.get("torch")
    if torch is None or type(data) is not torch.Tensor or type(query) is not torch.Tensor:
        return
    if not query.is_cuda or not query.is_contiguous() or matrix.changes is None:
        return
    place = id(data)
    known = _known.get(place)
    if known is None or known.matrix is not matrix:
        reference = weakref.ref(data, lambda _: _known.pop(place, None))
        pointer, device = data.data_ptr(), data.get_device()
        known = Known(reference, data._version, pointer, data.shape, device, matrix, {})
        _known[place] = known
    if len(known.ready) >= MOST_KINDS:
        known.ready.clear()
    known.ready[key] = Ready(search, kind, bounds, query.dtype, query.shape)


def top_k(
    data: Any, query: Any, key: tuple[Any, ...], bounds: Any, rng: Any, started: float
) -> TopK | None:
    """Answer a call like an earlier one; None if there was none."""
    known = _known.get(id(data))
    if (
        known is None
        or known.reference() is not data
        or data._version != known.version
        or data.data_ptr() != known.pointer
        or data.shape != known.shape
    ):
        return None
    try:
        ready = known.ready.get(key)
    except TypeError:  # of arguments that have no hash: they are refused elsewhere
        return None
    if (
        ready is None
        or ready.bounds is not bounds
        or type(query) is not type(data)
        or query.dtype is not ready.query_type
        or query.shape != ready.query_shape
        or query.get_device() != known.device
        or not query.is_contiguous()
        or query.data_ptr() % 16
        or query.is_neg()
        or type(key[0]) is not int
    ):
        return None
    search, kind = ready.search, ready.kind
    matrix = known.matrix
    if int(driver.bindings().cuCtxGetCurrent()[1]) != int(matrix.device.context):
        return None
    seed = seed_of(rng)
    stream = driver.stream(torch_stream(sys.modules["torch"], known.device))
    with matrix.lock:
        search.begin(query.data_ptr(), search.width, 1, seed, key[2], stream)
        search.wait(1, stream)
        record = search.records[0]
        kind.refuse_bad(record, search.epoch)
        scores, positions = search.scores[0], search.positions[0]
        kind.refuse_long(scores, positions, record.square)
        return kind.result(record, scores, positions, time.perf_counter() - started)
