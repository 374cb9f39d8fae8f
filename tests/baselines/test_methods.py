"""What is special to one baseline: that it does what its paper says."""

from __future__ import annotations

import heapq
import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from sureshot.baselines import (
    LSHMIPS,
    PCAMIPS,
    RPTMIPS,
    DiamondMSIPS,
    GreedyMIPS,
    KMeansMIPS,
    SampleMIPS,
)
from sureshot.baselines.columns import Columns
from sureshot.baselines.rows import Rows
from sureshot.baselines.sphere import Sphere

if TYPE_CHECKING:
    from sureshot._types import Array, Floats

# A right implementation fails a test once in a million.
FALSE_ALARM = 1e-6


def normal(shape: tuple[int, ...], seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal(shape)


def lifted(data: Array) -> Floats:
    """Return the matrix that no baseline makes."""
    norms = np.linalg.norm(data, axis=1)
    return np.column_stack((data, np.sqrt(np.maximum(norms.max() ** 2 - norms**2, 0))))


def heap_candidates(data: Floats, query: Floats, budget: int) -> set[int]:
    """Return the candidates of Greedy-MIPS as published: one list per coordinate, merged by a heap."""
    lists = [np.argsort(-data[:, j] * query[j]) for j in range(data.shape[1])]
    heap = [(-data[order[0], j] * query[j], j, 0) for j, order in enumerate(lists)]
    heapq.heapify(heap)
    met: set[int] = set()
    while len(met) < budget:
        _, j, place = heapq.heappop(heap)
        met.add(int(lists[j][place]))
        if place + 1 < len(data):
            row = lists[j][place + 1]
            heapq.heappush(heap, (-data[row, j] * query[j], j, place + 1))
    return met


@pytest.mark.parametrize("shape", [(97, 7), (50, 200), (300, 1), (64, 33)])
@pytest.mark.parametrize("scale", [0.0, 3.0])
def test_greedy_takes_the_candidates_of_the_heap(shape: tuple[int, int], scale: float) -> None:
    # With a scale some coordinates count for far more than others.
    data = normal(shape, seed=1) * np.exp(scale * normal(shape[1:], seed=2))
    method = GreedyMIPS().fit(data)
    for seed, budget in enumerate((1, 2, 10, shape[0] // 2, shape[0] - 1)):
        query = normal(shape[1:], seed=seed)
        found = method.query(query, shape[0], B=budget)
        assert set(found.indices.tolist()) == heap_candidates(data, query, budget)


def test_greedy_reads_little_to_find_its_candidates() -> None:
    data = normal((500, 400))
    found = GreedyMIPS().fit(data).query(normal((400,), seed=1), 5, B=0.1)
    screening = found.numbers_read - found.candidates * 400
    assert 2 * 400 <= screening <= 0.05 * data.size


def test_greedy_looks_at_no_coordinate_without_a_query() -> None:
    data = normal((50, 30))
    query = np.zeros(30)
    query[4] = -2.0
    found = GreedyMIPS().fit(data).query(query, 50, B=7)
    assert set(found.indices.tolist()) == set(np.argsort(data[:, 4])[:7].tolist())
    assert found.numbers_read <= 7 * 30 + 2 * 16


def test_the_sorted_lists_are_small() -> None:
    assert GreedyMIPS().fit(normal((300, 4)))._order.dtype == np.uint16
    many = GreedyMIPS().fit(normal((1 << 16 | 1, 2)))
    assert many._order.dtype == np.uint32
    best = many.query(np.array([1.0, -1.0]), 1, B=0.3)
    assert best.indices[0] == np.argmax(many.rows.data @ np.array([1.0, -1.0]))


def test_the_sphere_is_the_lifted_matrix() -> None:
    data = normal((60, 9)) * normal((60, 1), seed=1)
    sphere = Sphere(Rows(data))
    whole = lifted(data)
    assert np.linalg.norm(whole, axis=1) == pytest.approx(np.full(60, sphere.radius))
    directions, heights = normal((4, 9), seed=2), normal((4,), seed=3)
    expected = np.column_stack((directions, heights)) @ whole.T
    assert sphere.projections(directions, heights) == pytest.approx(expected)
    assert np.linalg.norm(sphere.unit(normal((9,)) * 1e200)) == pytest.approx(1)


def test_lsh_candidates_collide_in_one_table() -> None:
    data, query = normal((200, 12)), normal((12,), seed=1)
    method = LSHMIPS(most_bits=6, most_tables=5, rng=2).fit(data)
    # The same directions, by the order in which they are drawn.
    rng = np.random.default_rng(method._seed)
    directions, heights = rng.standard_normal((5, 6, 12)), rng.standard_normal((5, 6))
    whole = np.concatenate((directions, heights[:, :, None]), axis=2)
    rows = np.sign(np.einsum("tbj,ij->tbi", whole, lifted(data)))
    own = np.sign(directions @ query)
    for a in range(7):
        for b in (1, 3, 5):
            agree = (rows[:b, :a] == own[:b, :a, None]).all(axis=1).any(axis=0)
            found = method.query(query, 200, a=a, b=b)
            assert set(found.indices.tolist()) == set(np.flatnonzero(agree).tolist())


def test_lsh_finds_a_row_as_often_as_the_paper_says() -> None:
    data, query = normal((30, 8)), normal((8,), seed=1)
    a, b, runs = 3, 2, 400
    row = int(np.argmax(data @ query))
    whole = lifted(data)[row]
    cosine = whole[:-1] @ query / np.linalg.norm(whole) / np.linalg.norm(query)
    chance = 1 - (1 - (1 - math.acos(cosine) / math.pi) ** a) ** b
    hits = 0
    for seed in range(runs):
        method = LSHMIPS(most_bits=a, most_tables=b, rng=seed).fit(data)
        hits += row in method.query(query, 30, a=a, b=b).indices
    assert stats.binomtest(hits, runs, chance).pvalue > FALSE_ALARM


def test_pca_goes_down_to_one_leaf() -> None:
    data = normal((1000, 40))
    method = PCAMIPS(rng=0).fit(data)
    for depth in range(21):
        found = method.query(normal((40,), seed=depth), 1000, depth=depth)
        low, high = 1000 // 2**depth, -(-1000 // 2**depth)
        assert max(1, low) <= found.candidates <= max(1, high)
        assert found.numbers_read >= found.candidates * 40 + min(depth, 9) * 40


@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("mean", [0.0, 5.0, 100.0])
def test_pca_splits_along_the_principal_components(depth: int, mean: float) -> None:
    # Few strong components, so that the randomised SVD has no excuse.
    axes = np.linalg.qr(normal((50, 50), seed=1))[0][:6]
    data = normal((300, 6)) * [30, 20, 12, 7, 4, 2] @ axes + mean
    data += 0.01 * normal((300, 50), seed=2)
    whole = lifted(data)
    centred = whole - whole.mean(axis=0)
    expected = np.linalg.svd(centred, full_matrices=False)[2][:depth, :-1]
    method = PCAMIPS(depth=depth, rng=3).fit(data)
    lengths = np.linalg.norm(expected, axis=1)
    cosines = np.abs((method._directions * expected).sum(axis=1)) / lengths**2
    assert cosines == pytest.approx(np.ones(depth), abs=1e-3)


def test_pca_does_not_split_along_rounding_errors() -> None:
    data = normal((200, 2)) @ normal((2, 60), seed=1)
    # Two dimensions, and the coordinate that lifts to the sphere.
    assert len(PCAMIPS(depth=10, rng=0).fit(data)._directions) == 3


def test_the_leaf_of_a_row_is_the_one_that_holds_it() -> None:
    # Rows of equal norms lie on the sphere themselves, and as a query each ends where it is.
    data = normal((128, 16))
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    pca, rpt = PCAMIPS(rng=0).fit(data), RPTMIPS(rng=0, L=3).fit(data)
    for row in range(128):
        assert pca.query(data[row], 1, depth=5).indices[0] == row
        assert rpt.query(data[row], 1, L=1, leaf=4).indices[0] == row
        # The length of a query changes nothing.
        long = pca.query(1e6 * data[row], 9, depth=5)
        assert (long.indices == pca.query(data[row], 9, depth=5).indices).all()


def test_rpt_keeps_to_its_leaves() -> None:
    data = normal((500, 20))
    method = RPTMIPS(L=4, rng=1).fit(data)
    for leaf in (1, 10, 100):
        for trees in (1, 4):
            found = method.query(normal((20,), seed=leaf), 500, L=trees, leaf=leaf)
            assert found.candidates <= trees * leaf
            # A node above the limit keeps a quarter of its rows on the smaller side.
            assert found.candidates >= max(1, leaf // 4)


def test_columns_are_drawn_in_proportion() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((150, 3))
    data[40:100, 1] = 0
    columns = Columns(Rows(data), user="test")
    for column in range(3):
        drawn, _ = columns.draw(np.full(20_000, column), rng)
        weights = np.abs(data[:, column]) / np.abs(data[:, column]).sum()
        counts = np.bincount(drawn, minlength=150)
        assert (counts[weights == 0] == 0).all()
        present = weights > 0
        pvalue = stats.chisquare(counts[present], 20_000 * weights[present]).pvalue
        assert pvalue > FALSE_ALARM


def test_sampling_meets_rows_in_proportion_to_their_scores() -> None:
    rng = np.random.default_rng(1)
    # Columns of very different sizes, which a draw by the query alone would not know.
    data, query = rng.random((90, 30)) * np.geomspace(1, 1000, 30), rng.random(30)
    data[:, :15] *= np.arange(90)[:, None]
    scores = data @ query
    method = SampleMIPS(rng=2).fit(data)
    counts, _ = method._sums(query, method._weights(query), 200_000, rng)
    expected = 200_000 * scores / scores.sum()
    assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM
    assert (np.argsort(expected) != np.argsort(data.sum(axis=1))).any()


def test_more_samples_find_more() -> None:
    rng = np.random.default_rng(3)
    data, queries = rng.random((200, 30)) ** 3, rng.random((20, 30))
    for method in (SampleMIPS(rng=2).fit(data), DiamondMSIPS(rng=2).fit(data)):
        found = [
            [method.query(query, 5, samples=samples, B=10).scores.sum() for query in queries]
            for samples in (10, 1_000, 100_000)
        ]
        assert (np.diff(np.mean(found, axis=1)) > 0).all()


def test_diamonds_rank_by_squares() -> None:
    data, query = normal((90, 30)), normal((30,), seed=1)
    squares = (data @ query) ** 2
    found = DiamondMSIPS(rng=2).fit(data).query(query, 5, samples=300_000, B=0.3)
    assert set(found.indices.tolist()) == set(np.argsort(-squares)[:5].tolist())
    assert (found.scores < 0).any()
    everything = DiamondMSIPS(rng=2).fit(data).query(query, 90, samples=10, B=1.0)
    assert (np.diff(np.abs(everything.scores)) <= 0).all()


def test_diamond_sums_estimate_the_squares() -> None:
    data, query = normal((12, 6)) * np.geomspace(0.1, 10, 6), normal((6,), seed=1)
    method, squares = DiamondMSIPS(rng=2).fit(data), (data @ query) ** 2
    # The mean of one term, times these sums, is the square.
    factor = np.abs(query).sum() * (np.abs(data) @ np.abs(query)).sum()
    weights, rng = method._weights(query), np.random.default_rng(3)
    runs = [method._sums(query, weights, 5_000, rng)[0] * factor / 5_000 for _ in range(40)]
    mean, error = np.mean(runs, axis=0), stats.sem(runs, axis=0)
    assert (np.abs(mean - squares) <= 7 * error).all()
    assert (error < 0.1 * squares.max()).all()


def test_the_length_of_a_query_changes_nothing() -> None:
    data, query = normal((90, 30)), normal((30,), seed=1)
    method = DiamondMSIPS(rng=2).fit(data)
    found = method.query(query, 5, samples=10_000, B=0.2)
    tiny = method.query(1e-170 * query, 5, samples=10_000, B=0.2)
    assert (found.indices == tiny.indices).all()


def test_clusters_hold_all_rows_once() -> None:
    data = normal((300, 10))
    method = KMeansMIPS(clusters=12, rng=0).fit(data)
    query = normal((10,), seed=1)
    found = [method.query(query, 300, probes=probes) for probes in range(1, 13)]
    for less, more in pairwise(found):
        assert set(less.indices.tolist()) <= set(more.indices.tolist())
    assert found[-1].candidates == 300
    assert found[0].candidates < 300


def test_clusters_are_found() -> None:
    centres = np.repeat(5 * normal((6, 20)), 50, axis=0)
    data = centres + 0.1 * normal((300, 20), seed=1)
    method = KMeansMIPS(clusters=6, rng=0).fit(data)
    # k-means may join two groups and divide another, but most rows are among their own.
    parts = [part for part in np.split(method._members, method._edges[1:-1]) if len(part)]
    own = sum(max(np.bincount(part // 50)) for part in parts)
    assert len(parts) >= 4
    assert own >= 0.65 * 300
