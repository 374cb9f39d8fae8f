"""The structures that host and kernels share, field by field as in ``kernels/records.cuh``."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from sureshot.cuda import plan

_POINTERS = (
    "data", "query", "square", "factor", "rows", "leaders", "inverse", "weights", "order",
    "drawn_blocks", "drawn", "slots", "sample", "work", "mark", "records", "best_arm", "best_score",
    "lows", "partial", "narrowed", "products", "grid_of_row", "packed", "totals", "out_arm", "out_score", "out_work",
)  # fmt: skip
_INTEGERS = (
    "n", "width", "blocks", "k", "first", "slot_count", "few", "capacity", "best_capacity", "pieces",
    "piece", "direct", "low", "high", "second", "third", "chance", "sample_stride", "samples", "least_pruned", "batch",
    "padded", "parts", "steps", "whole",
)  # fmt: skip


class Params(ctypes.Structure):
    """The argument of every kernel of a search."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in _POINTERS),
        ("stride", ctypes.c_longlong),
        ("query_stride", ctypes.c_longlong),
        ("epsilon", ctypes.c_double),
        ("most_cost", ctypes.c_double),
        ("product_share", ctypes.c_double),
        ("raised", ctypes.c_double),
        ("seed", ctypes.c_uint64),
        *((name, ctypes.c_int) for name in _INTEGERS),
        ("level", ctypes.c_float),
        ("per_spread", ctypes.c_float),
        ("epoch", ctypes.c_uint32),
        ("grid", ctypes.c_int),
        ("stage", ctypes.c_int),
    )


class Measure(ctypes.Structure):
    """The argument of the kernel that measures rows."""

    _fields_ = (
        *(
            (name, ctypes.c_void_p)
            for name in (
                "data",
                "query",
                "rows",
                "square",
                "sum",
                "largest",
                "outside",
                "part",
                "arrived",
            )
        ),
        ("stride", ctypes.c_longlong),
        ("column_stride", ctypes.c_longlong),
        ("low", ctypes.c_double),
        ("high", ctypes.c_double),
        *((name, ctypes.c_int) for name in ("n", "width", "pieces", "piece", "grid", "splits")),
    )


# What is known of a query on the device, and of its answer on the host.
WORK = np.dtype(
    [
        ("tau", "f8"), ("square", "f8"), ("weight", "f8"), ("scale", "f8"),
        ("blocks", "u8"), ("rows", "u8"), ("grid_of_query", "f8"), ("size", "u8"),
        ("steps", "i4"), ("complete", "i4"), ("state", "i4"), ("reason", "i4"), ("stage", "i4"),
        ("bad_query", "u4"), ("bad_score", "u4"), ("bad_norm", "u4"), ("bad_row", "i4"),
        ("begin", "i4"), ("end", "i4"), ("found", "i4"), ("count", "i4", 4), ("queue", "i4", 8),
        ("arrived", "i4", 8), ("cost", "f4", 2), ("listed", "i4"), ("epoch", "u4"),
    ]
)  # fmt: skip

_C_TYPES = {
    "f8": ctypes.c_double,
    "u8": ctypes.c_uint64,
    "i4": ctypes.c_int32,
    "u4": ctypes.c_uint32,
    "f4": ctypes.c_float,
}


def _c_type(kind: np.dtype[Any]) -> Any:
    one = _C_TYPES[kind.base.str[1:]]
    return one * kind.shape[0] if kind.shape else one


class Record(ctypes.Structure):
    """The same of one query: its fields are read faster than those of an array."""

    _fields_ = tuple((name, _c_type(WORK[name])) for name in WORK.names or ())


# Bytes of shared memory: tickets of the first kernel, and scores that are merged.
MERGED = 3072
MERGE_BYTES = MERGED * 12 + 2048
TICKET_BYTES = 8 * (plan.PLACES + 1) + 2 * 4 * 4096 + 4 * plan.DRAWS + 1024

# Warps of a product, rows and queries of its tiles, and bytes of a row that a warp reads at once, by the size of an element.
TILE_WARPS, TILE_ROWS, TILE_QUERIES = 8, 64, 16
SLAB = {4: 128, 2: 128, 1: 64}

# What kernels of products have beside that.
STATIC_BYTES = 2 << 10


def product_bytes(itemsize: int) -> int:
    """Return the shared memory of a product: two slabs of rows and queries for each warp."""
    slab = SLAB[itemsize]
    stage = TILE_ROWS * (slab + 16) + TILE_QUERIES * (slab // itemsize + 4) * 4
    return max(2 * TILE_WARPS * stage, 4 * TILE_WARPS * TILE_ROWS * TILE_QUERIES)


# Why every arm was evaluated.
ASKED, NO_HOPE, BEYOND_RANGE, TOO_MANY, FEW_ARMS, SHORT_ROWS, MULTIPLIED, SMALL_DATA = range(1, 9)
# All arms were multiplied with the query alone; and no reason, but that the host must ask again.
SKIMMED, AGAIN = 9, 10
REASONS = {
    0: "a race",
    ASKED: "every arm was evaluated, as asked",
    NO_HOPE: "every arm that was left was evaluated: sampling on would have read more",
    BEYOND_RANGE: "every arm was evaluated: norms, query or delta are too large or too small for single precision",
    TOO_MANY: "every arm was evaluated: too many were left for the memory of a search",
    FEW_ARMS: "every arm was evaluated: there are few",
    SHORT_ROWS: "every arm was evaluated: rows are short",
    SMALL_DATA: "every arm was evaluated: the data is so small that a race would take as long",
    MULTIPLIED: "every arm was multiplied with all such queries of the batch, and the best of them evaluated",
    SKIMMED: "every arm was multiplied in single precision, and the best of them evaluated",
}
