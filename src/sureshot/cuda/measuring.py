"""One pass over all rows on a device: their norms, and the sums of a first query."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sureshot.cuda import driver
from sureshot.cuda.layout import Measure
from sureshot.cuda.matrix import CHUNK_BYTES, module
from sureshot.cuda.plan import THREADS, pieces_of
from sureshot.errors import BoundsError

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.cuda.matrix import DeviceMatrix

NO_LIMITS = (-np.inf, np.inf)

# Where columns lie side by side they are split until there are so many blocks of threads.
FEWEST_BLOCKS = 512


class Measured(NamedTuple):
    """What a pass has found, one entry for each row."""

    squares: Floats
    largest: Floats  # absolute values
    sums: Floats  # inner products, or squared distances; of no meaning without a query


def measure(
    matrix: DeviceMatrix,
    stream: int,
    query: tuple[int, str, bool] | None,
    metric: str,
    arms: Ints | None,
    limits: tuple[float, float] = NO_LIMITS,
) -> Measured:
    """Measure some rows, or all.

    Parameters
    ----------
    matrix
        Where the rows are.
    stream
        In whose order this happens.
    query
        Where a query is, its type, and whether it is aligned.
    metric
        Which sums are wanted.
    arms
        The rows.
    limits
        Of all values.
    """
    on = matrix.device
    n_rows = matrix.shape[0] if arms is None else len(arms)
    pointer, query_type, query_aligned = (0, "float32", True) if query is None else query
    metric = "sqeuclidean" if metric == "sqeuclidean" else "ip"
    aligned = matrix.aligned and query_aligned
    with on.current():
        code = module(on.number, "measure", matrix.dtype, query_type, metric, aligned=aligned)
        rows = None if arms is None else driver.upload(on, arms.astype(np.int32))
        out = driver.Memory(on, n_rows * 24 + 16)
        argument = Measure()
        argument.data, argument.query = matrix.pointer, pointer
        argument.rows = 0 if rows is None else rows.pointer
        argument.square, argument.sum = out.pointer, out.pointer + 8 * n_rows
        argument.largest = out.pointer + 16 * n_rows
        argument.outside = out.pointer + 20 * n_rows
        argument.stride, argument.column_stride = matrix.strides
        argument.low, argument.high = limits
        argument.n, argument.width = n_rows, matrix.shape[1]
        argument.pieces, argument.piece = pieces_of(matrix.shape[1], 16 // matrix.itemsize)
        argument.grid = on.processors
        driver.check(driver.bindings().cuMemsetD32(argument.outside, 0xFFFFFFFF, 1))
        driver.check(driver.bindings().cuCtxSynchronize())
        launches = driver.Launches(on, argument, THREADS)
        if matrix.by_column:
            tiles = -(-n_rows // THREADS)
            argument.splits = max(1, min(matrix.shape[1], FEWEST_BLOCKS // tiles))
            part = driver.Memory(on, 24 * n_rows * argument.splits + 4 * tiles)
            argument.part, argument.arrived = part.pointer, part.pointer + part.size - 4 * tiles
            grid = (tiles, argument.splits)
            launches.run(driver.Kernel(code, "measure_columns"), grid, stream)
        else:
            short = matrix.shape[1] * matrix.itemsize <= THREADS * CHUNK_BYTES
            kernel = driver.Kernel(code, "measure_short" if short else "measure")
            launches.run(kernel, (argument.grid, 1), stream)
        found = np.empty(n_rows * 24 + 16, np.uint8)
        driver.download(on, out.pointer, found, stream)
    squares, sums = found[: 16 * n_rows].view(np.float64).reshape(2, n_rows)
    largest = found[16 * n_rows : 20 * n_rows].view(np.float32).astype(np.float64)
    (outside,) = found[20 * n_rows : 20 * n_rows + 4].view(np.int32)
    finite = np.isfinite(squares)
    if not finite.all():
        at = int(np.argmin(finite))
        row = at if arms is None else int(arms[at])
        raise ValueError(
            f"data row {row} holds values that are not finite, or too large for a norm"
        )
    if outside >= 0:
        row = int(outside) if arms is None else int(arms[outside])
        low, high = limits
        raise BoundsError(f"data row {row} holds values outside the bounds ({low:g}, {high:g})")
    return Measured(squares.copy(), largest, sums.copy())
