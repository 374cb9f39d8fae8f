"""Checking a call reads no data; what must be read is read when the search is prepared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sureshot._validate.request import best_arms_request, top_k_request
from sureshot.prepare.top_k import prepare_top_k

TOP_K: dict[str, Any] = {
    "k": 2,
    "metric": "ip",
    "epsilon": 0.0,
    "delta": 0.05,
    "bounds": "scan",
    "method": "betting",
    "replacement": None,
    "budget": None,
    "budget_seconds": None,
    "where": None,
    "row_scale": None,
    "expected_score": None,
    "rng": 0,
    "threads": 1,
    "block": None,
    "progress": None,
}


def test_a_scan_is_made_when_the_search_is_prepared() -> None:
    data = np.full((5, 40), np.nan)
    request = top_k_request(data=data, query=np.ones(40), **TOP_K)
    assert request.bounds is None
    with pytest.raises(ValueError, match="data row 0 holds values that are not finite"):
        prepare_top_k(request)


def test_the_scan_is_counted_with_the_first_query() -> None:
    data = np.random.default_rng(0).random((5, 40))
    queries = prepare_top_k(top_k_request(data=data, query=data[:2], **TOP_K))
    tallies = [queries.problem(query, queries.team, None)[1] for query in range(2)]
    assert [tally.numbers_scanned for tally in tallies] == [2 * 5 * 40, 0]
    assert [tally.numbers_read for tally in tallies] == [2 * 5 * 40, 0]


def test_an_expected_score_is_ranked_as_scores_are() -> None:
    data = np.random.default_rng(0).random((5, 40))
    for metric, expected in (("ip", 3.0), ("sqeuclidean", -3.0)):
        options = TOP_K | {"metric": metric, "bounds": None, "expected_score": 3}
        queries = prepare_top_k(top_k_request(data=data, query=data[0], **options))
        assert queries.problem(0, queries.team, None)[0].expected_score == expected


def test_columns_are_read_in_blocks_where_bets_profit_from_them() -> None:
    """With norms, where most values are far smaller than the limits of a scan, and without limits."""
    rng = np.random.default_rng(1)
    wide, narrow = rng.standard_normal((60, 5_000)) ** 3, rng.random((60, 5_000))
    query = rng.standard_normal(5_000)
    found = {}
    for name, data in (("wide", wide), ("narrow", narrow)):
        for options in (
            {},
            {"metric": "sqeuclidean"},
            {"block": 3},
            {"budget": 0.5},
            {"bounds": (-99.0, 99.0)},
            {"bounds": None},
        ):
            request = top_k_request(data=np.asfortranarray(data), query=query, **(TOP_K | options))
            found[name, *options.values()] = prepare_top_k(request).blocks.size
    assert found == {
        ("wide",): 16,
        ("wide", "sqeuclidean"): 1,
        ("wide", 3): 3,
        ("wide", 0.5): 1,
        ("wide", (-99.0, 99.0)): 1,
        ("wide", None): 4,
        ("narrow",): 1,
        ("narrow", "sqeuclidean"): 1,
        ("narrow", 3): 3,
        ("narrow", 0.5): 1,
        ("narrow", (-99.0, 99.0)): 1,
        ("narrow", None): 4,
    }


@pytest.mark.parametrize("check", [top_k_request, best_arms_request])
def test_requests_take_keywords_only(check: Any) -> None:
    with pytest.raises(TypeError, match="positional"):
        check(np.ones((2, 3)), np.ones(3))


def test_requests_are_frozen() -> None:
    request = top_k_request(data=np.ones((5, 40)), query=np.ones(40), **TOP_K)
    with pytest.raises(AttributeError):
        request.k = 3  # type: ignore[misc]
