"""The comparison that rejects most arms of a pass: the bits of the kernels, and no arm that reaches the threshold is rejected (Lemma 28)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from sureshot.cuda import product, rounding
from tests.cuda.host import compiled, pointer

if TYPE_CHECKING:
    import ctypes

f = np.float32

SOURCE = """
#include <cmath>
typedef unsigned long long u64;
typedef unsigned int u32;
#include "draws.cuh"
#include "below.cuh"

extern "C" void below(int count, const float* in, int* out) {
    for (int i = 0; i < count; i++) {
        const float* x = in + 10 * i;
        const QueryTerms q = {x[1], x[2], x[3], x[4], x[5]};
        const RowTerms r = {x[6], x[7], x[8], x[9]};
        out[i] = surely_below(x[0], q, r);
    }
}
"""


class Terms(NamedTuple):
    """What is compared, for many arms: the fields of below.cuh."""

    sum: Any
    threshold: Any
    half: Any
    scale: Any
    near: Any
    count_of_query: Any
    times: Any
    plus: Any
    norm: Any
    count: Any


def surely_below(t: Terms, slack: float = rounding.BELOW_SLACK) -> Any:
    """Return the same in numpy, operation by operation."""
    goal, rest = t.threshold * t.times, t.plus * t.scale + t.half
    error = t.near * t.norm + t.count_of_query * t.count
    return t.sum + (error + (np.abs(goal) + rest) * f(slack)) < goal + rest


def reaching(seed: int, n: int = 200_000, *, far: bool) -> Terms:
    """Return arms whose scores just reach the threshold, with sums that are off by as much as they may be, downwards."""
    rng = np.random.default_rng(seed)
    wide = np.longdouble
    scale = np.exp2(rng.integers(-20, 20, n).astype(wide))
    norm, size = (np.exp(rng.normal(0, 4, n)).astype(wide) for _ in range(2))
    share = rng.choice([product.skim_of(width, 4).share for width in (1, 100, 8192)], n)
    angle = np.where(rng.random(n) < 0.5, rng.uniform(-1, 1, n), rng.normal(0, 1e-6, n))
    inner = norm * size * angle.astype(wide)
    factor = np.exp(rng.normal(0, 2, n)) if not far else np.ones(n)
    both = norm * norm + size * size
    tau = np.float64((2 * inner - both) if far else inner * factor)  # the score is not below it
    needed = (wide(tau) + both) / 2 if far else wide(tau) / wide(factor)
    error = share * norm * size * scale + (share * norm * norm * scale if far else 0)
    least = needed * scale - error
    sums = least.astype(f)
    sums = np.where(sums < least, np.nextafter(sums, f(np.inf)), sums)
    raised = 1 + rounding.ERROR_SHARE
    zeros = np.zeros(n, f)
    # A norm that was found in single precision may be too small by the share of the sums.
    found = (norm * (1 - share / 2)).astype(f)
    return Terms(
        sums,
        np.float64(scale * tau * (0.5 if far else 1)).astype(f),
        np.float64(size * size * scale / 2).astype(f) if far else zeros,
        scale.astype(f) if far else zeros,
        np.float64(share * size * scale * raised).astype(f),
        np.float64(share * scale * raised).astype(f),
        (1 / factor).astype(f),
        f(0.5) * (norm * norm).astype(f) if far else zeros,
        found,
        (norm * norm * (1 - share)).astype(f) if far else zeros,
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(SOURCE, tmp_path_factory.mktemp("below"))


@pytest.mark.parametrize("far", [False, True])
def test_the_kernels_compare_as_the_reference(library: ctypes.CDLL, *, far: bool) -> None:
    terms = reaching(0, far=far)
    lower = np.random.default_rng(1).random(len(terms.sum)).astype(f) * f(1e-3)
    terms = terms._replace(sum=terms.sum - lower * np.abs(terms.sum))  # of which many are rejected
    terms.sum[:4] = np.nan, -np.inf, np.inf, 0
    terms.norm[:4] = np.inf
    table = np.ascontiguousarray(np.stack(terms, axis=1))
    out = np.empty(len(table), dtype=np.int32)
    library.below(len(table), pointer(table), pointer(out))
    with np.errstate(invalid="ignore"):
        wanted = surely_below(terms)
    assert 0.1 < wanted.mean() < 1
    assert not wanted[:4].any()
    assert (out == wanted).all()


@pytest.mark.parametrize("far", [False, True])
def test_no_arm_that_reaches_the_threshold_is_rejected(*, far: bool) -> None:
    for seed in range(3):
        assert not surely_below(reaching(seed, far=far)).any()


@pytest.mark.parametrize("far", [False, True])
def test_less_slack_would_be_noticed(*, far: bool) -> None:
    terms = reaching(0, far=far)
    unraised = terms._replace(
        near=terms.near / f(1 + rounding.ERROR_SHARE),
        count_of_query=terms.count_of_query / f(1 + rounding.ERROR_SHARE),
    )
    assert surely_below(unraised, 2.0**-26).any()
    quarter = unraised._replace(norm=unraised.norm / f(4), count=unraised.count / f(4))
    assert surely_below(quarter).any()  # and an error that is too small
