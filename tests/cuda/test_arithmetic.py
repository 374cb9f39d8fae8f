"""The arithmetic of the kernels, compiled for the host, has the bits of the reference."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from sureshot.cuda import bets, order
from tests.cuda.host import compiled, pointer

SOURCE = """
#include <cmath>
typedef unsigned long long u64;
typedef unsigned int u32;
#include "draws.cuh"
#include "bet.cuh"

extern "C" void tickets(u64 seed, u64 total, int count, u64* out) {
    for (int i = 0; i < count; i++) out[i] = random_ticket(seed, i, total);
}
extern "C" void bets(int count, const int* step, const float* in, float* factor, int* certain) {
    for (int i = 0; i < count; i++) {
        const float* x = in + 12 * i;
        const Sums before = {x[2], x[3], x[4], x[5], x[6]};
        const Bet out = bet(step[i], x[0], x[1], before, x[7], x[8], x[9], x[10], x[11]);
        factor[i] = out.factor;
        certain[i] = out.certain;
    }
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(SOURCE, tmp_path_factory.mktemp("arithmetic"))


@pytest.mark.parametrize("total", [1, 7, 2**40 + 1, 6250 * 2**40, 2**60 - 3])
def test_tickets(library: ctypes.CDLL, total: int) -> None:
    out = np.empty(2000, dtype=np.uint64)
    seed = 0x1234_5678_9ABC_DEF0
    library.tickets(ctypes.c_uint64(seed), ctypes.c_uint64(total), len(out), pointer(out))
    assert out.tolist() == order.drawn_tickets(total, seed, len(out)).tolist()


def test_bets(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(0)
    count = 200_000
    f = np.float32
    steps = rng.integers(0, 512, count).astype(np.int32)
    many = np.maximum(steps, 1)
    scale = np.exp(rng.normal(0, 6, count))  # all sizes of numbers
    spread = scale * np.exp(rng.normal(0, 2, count))
    mean = spread * rng.normal(0, 0.3, count)
    y = mean + spread * rng.standard_normal(count)
    inverse_left = np.exp(rng.normal(0, 3, count))
    sums = {
        "x": rng.normal(0, 1, count) * scale / inverse_left,
        "y": steps * mean,
        "yy": steps * (mean**2 + spread**2),
        "mass": np.zeros(count),
        "u": steps * spread**2 * np.exp(rng.normal(0, 1, count)),
    }
    square = spread**2 / inverse_left * np.exp(rng.normal(1, 2, count))
    sums["mass"] = square * rng.random(count) * 1.05
    theta = sums["x"] + (mean + spread * rng.normal(0.5, 1, count)) / inverse_left
    u = np.maximum(y * y, spread**2 * np.exp(rng.normal(0, 2, count)))
    inverse = f(1) / many.astype(f)
    less = f(1) / np.maximum(steps - 1, 1).astype(f)
    columns = [theta, square, *sums.values(), y, u, inverse_left, inverse, less]
    table = np.stack([column.astype(f) for column in columns], axis=1)
    table[:100, 3:9] = 0  # rows of zeros
    factor, certain = np.empty(count, dtype=f), np.empty(count, dtype=np.int32)
    library.bets(count, *map(pointer, (steps, table, factor, certain)))
    past = bets.Sums(*(table[:, j : j + 1] for j in range(2, 7)))
    known = bets.Steps(
        steps[:, None].astype(f), table[:, 10:11], table[:, 11:], np.ones((1, 1), f), table[:, 9:10]
    )
    with np.errstate(all="ignore"):
        right = bets.factors(table[:, 7:8], table[:, 8:9], past, known, table[:, 0], table[:, 1])
    assert factor.tobytes() == right.factor.tobytes()
    assert (certain != 0).tolist() == right.certain[:, 0].tolist()
    assert (factor > 1).mean() > 0.05
    assert (factor < 1).mean() > 0.05
    assert certain.any()
