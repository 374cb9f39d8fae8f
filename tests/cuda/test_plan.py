"""Plans are made of sizes alone, and constants of rounding follow them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sureshot.cuda import order, plan, product, rounding


@pytest.mark.parametrize("k", [1, 10, 63, 64, 100, 1000])
@pytest.mark.parametrize("n_arms", [1, 9, 1000, 10**7])
def test_enough_rows_and_slots_for_every_k(n_arms: int, k: int) -> None:
    k = min(k, n_arms)
    found = plan.plan_of(n_arms, 100_000, k, 4)
    assert k <= found.first_rows <= n_arms or found.first_rows == n_arms
    assert found.slots >= 2 * k
    assert found.slots & (found.slots - 1) == 0
    assert found.short_cap < found.long_cap < found.second_cap <= found.last_cap <= found.draws


@pytest.mark.parametrize(("itemsize", "block"), [(4, 16), (2, 32), (1, 64)])
@pytest.mark.parametrize("n_columns", [1, 15, 16, 17, 100_000, 10**6 + 1])
def test_blocks_cover_the_columns(n_columns: int, itemsize: int, block: int) -> None:
    found = plan.plan_of(1000, n_columns, 10, itemsize)
    assert found.block == block
    assert (found.n_blocks - 1) * block < n_columns <= found.n_blocks * block


def test_a_second_chance_needs_long_rows() -> None:
    assert plan.plan_of(1000, 51_199, 10, 4).chance(1) == 0
    assert plan.plan_of(1000, 51_200, 10, 4).chance(1) == plan.SECOND_CAP
    # Queries of a batch share the pass that it may save.
    assert plan.plan_of(1000, 51_200, 10, 4).chance(2) == 0


def test_a_second_chance_needs_much_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "CHANCE_BYTES", 2 << 30)
    assert plan.plan_of(2500, 100_000, 10, 4).chance(1) == 0
    assert plan.plan_of(10_000, 100_000, 10, 4).chance(1) == plan.SECOND_CAP


def test_lists_have_room_for_more_than_a_sample_promises() -> None:
    assert plan.list_room(10**7, 10, 1024) > 3 * 10**7 * 10 // 1024
    assert plan.list_room(10**7, 1000, 1250) == 10**7
    assert plan.list_room(5000, 10, 0) == 5000


@pytest.mark.parametrize("itemsize", [4, 2, 1])
def test_short_rows_race_only_where_norms_rule_most_of_them_out(itemsize: int) -> None:
    most = min(plan.SKIMMED_COLUMNS, 32 * plan.SHORT_CAP * plan.BLOCK_BYTES // itemsize - 1)
    short = plan.plan_of(10**6, most, 10, itemsize)
    assert short.least_pruned > plan.PRUNING_SAMPLE // 2
    assert short.first_rows == plan.SKIMMED_FIRST_ROWS
    for longer in (
        plan.plan_of(10**6, most + 1, 10, itemsize),
        plan.plan_of(plan.WHOLE_ARMS, most, 10, itemsize),
    ):
        assert longer.least_pruned == 0
        assert longer.first_rows == plan.FIRST_ROWS
    assert plan.plan_of(10**6, most, 1000, itemsize).first_rows == 1250


@pytest.mark.parametrize("chunk", [4, 8, 16])
def test_the_guard_grows_with_the_roundings_and_stays_small(chunk: int) -> None:
    shares = [rounding.guard_share(chunk, steps) for steps in (16, 128, 512, 1024)]
    assert shares == sorted(shares)
    assert shares[-1] < 1e-5
    # Each term of the sum of 1,024 steps is rounded once for its product, then chunk, tree, scan and rounds.
    assert rounding.sum_roundings(chunk, 1024) == chunk + 2 + 4 + 66
    assert rounding.square_share(chunk, 512) > rounding.gamma(rounding.sum_roundings(chunk, 512))


def test_the_level_is_raised_by_little() -> None:
    assert 200 < rounding.level(10, 0.05, 512) < 202
    assert rounding.level(10, 0.05, 512) > rounding.level(10, 0.05, 256)


def test_weights_of_every_query_that_is_bet_on_can_be_counted() -> None:
    """The kernels count tickets only where the exponent of the largest weight is within the limit."""
    least = 2 * math.log2(rounding.LEAST_QUERY) - math.log2(rounding.MOST_BLOCKS)
    assert least > -rounding.MOST_EXPONENT + 1
    assert 2 * math.log2(rounding.MOST_QUERY) < rounding.MOST_EXPONENT - 1
    # A unit, its inverse and the scale are normal numbers of float64.
    assert rounding.MOST_EXPONENT + order.TICKET_BITS < 1022


@pytest.mark.parametrize("width", [1, 100, 65_408, 65_409, 10**7])
@pytest.mark.parametrize("n_rows", [1, 1000, 10**6])
def test_sums_of_bytes_have_31_bits(n_rows: int, width: int) -> None:
    cut = product.product_of(n_rows, width, 2, tops_known=True)
    assert cut.integers
    reads = cut.steps * 32 // product.READ
    columns = -(-reads // cut.parts) * product.READ
    assert columns * 2 * 128 * 128 < 2**31  # two products of bytes for each column
    assert cut.parts * columns >= width
    # 128 is added to the largest number, which float32 has rounded.
    assert np.float32(rounding.MOST_NUMBER) * (1 + 2 * rounding.U) + 129 < 2**15
