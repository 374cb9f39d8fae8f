"""Factors of ratings by alternating least squares, and the data sets made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.experiments import sets
from sureshot.experiments.ratings import needed

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.experiments.ratings import Ratings
    from sureshot.experiments.sets import DataSet

ITERATIONS = 15


def factorise(ratings: Ratings, rank: int, seed: int) -> tuple[Array, Array]:
    """Return the factors of the items and of the users, float32, one row each.

    The paper takes its factors from an earlier work that fits explicit ratings. Here they come from
    the alternating least squares of ``implicit``, with ratings as confidences.
    """
    als: Any = needed("implicit.als", "factors of ratings")
    sparse: Any = needed("scipy.sparse", "factors of ratings")
    # Several ratings of one item by one user add up: that is what its constructor does.
    table = sparse.csr_matrix(
        (ratings.values, (ratings.users, ratings.items)), shape=(ratings.n_users, ratings.n_items)
    )
    # It has threads of its own, one for each core, and asks for products that have none.
    pools: Any = needed("threadpoolctl", "factors of ratings")
    with pools.threadpool_limits(1, user_api="blas"):
        model = als.AlternatingLeastSquares(
            factors=rank, iterations=ITERATIONS, random_state=seed, use_gpu=False
        )
        model.fit(table, show_progress=False)
    return np.asarray(model.item_factors), np.asarray(model.user_factors)


def as_factors(items: Array, users: Array, n: int, queries: int, seed: int) -> DataSet:
    """Return the items' factors as rows and some users' factors as queries.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = as_factors(rng.random((9, 3)), rng.random((8, 3)), n=5, queries=2, seed=0)
    >>> found.data.shape, found.queries.shape
    ((5, 3), (2, 3))
    """
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(items))[:n])
    asked = rng.permutation(len(users))[:queries]
    return sets.of_rows(_rows(items[rows]), _rows(users[asked]))


def as_scores(
    items: Array, users: Array, shape: tuple[int, int], queries: int, seed: int
) -> DataSet:
    """Return the dense matrix of predicted scores, items × users; other items are the queries.

    So a query asks: which items are liked by those who like this one? This is the reading of the
    paper's "10^5 dimensions" in which a row is long: there is a coordinate for each user.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = as_scores(rng.random((9, 3)), rng.random((8, 3)), (5, 6), queries=2, seed=0)
    >>> found.data.shape, found.queries.shape
    ((5, 6), (2, 6))
    """
    n, N = shape
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(items))[: n + queries]
    asked, rows = chosen[:queries], np.sort(chosen[queries:])
    columns = np.sort(rng.permutation(len(users))[:N])
    by_user = users[columns].T
    return sets.of_rows(_rows(items[rows] @ by_user), _rows(items[asked] @ by_user))


def _rows(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=np.float32)
