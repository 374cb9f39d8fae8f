"""Recommend items: for many users the best ones by inner products of factors, without the items that they know.

The factors are made by the package implicit or, where it is not installed, by a truncated SVD; both have the same shape.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import sureshot

USERS, ITEMS, FACTORS, LIKED, K = 2_000, 3_000, 32, 20, 10


def likes(users: int, items: int, rng: np.random.Generator) -> Any:
    """Return a sparse matrix of what users like: tastes that they share, and chance."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - with implicit or scikit-learn

    tastes = rng.gamma(0.3, size=(users, 12)) @ rng.gamma(0.3, size=(12, items))
    tastes += 0.1 * rng.random((users, items))
    liked = np.argpartition(-tastes, LIKED, axis=1)[:, :LIKED]
    rows = np.repeat(np.arange(users), LIKED)
    return csr_matrix((np.ones(rows.size, np.float32), (rows, liked.ravel())), (users, items))


def factors(known: Any) -> tuple[Any, Any, str]:
    """Return the factors of users and items, and who made them."""
    try:
        from implicit.als import AlternatingLeastSquares  # noqa: PLC0415 - may not be installed
    except ModuleNotFoundError:
        from scipy.sparse.linalg import svds  # noqa: PLC0415 - in its place

        left, values, right = svds(known, k=FACTORS, random_state=0)
        items = np.ascontiguousarray((right * values[:, None]).T, dtype=np.float32)
        return np.ascontiguousarray(left, dtype=np.float32), items, "a truncated SVD"
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with implicit

    # It has threads of its own, and asks for products that have none.
    with threadpool_limits(1, user_api="blas"):
        model = AlternatingLeastSquares(FACTORS, iterations=5, random_state=0, use_gpu=False)
        model.fit(known, show_progress=False)
    return model.user_factors, model.item_factors, "implicit"


def main() -> None:
    """Recommend, and compare with the plain product."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--items", type=int, default=ITEMS)
    settings = parser.parse_args()
    known = likes(settings.users, settings.items, np.random.default_rng(0))
    users, items, made_by = factors(known)

    # All users in one call. Each knows at most LIKED items, so that K + LIKED are enough to leave them out.
    started = time.perf_counter()
    found = sureshot.top_k(items, users, k=K + LIKED, rng=0)
    new = np.array(
        [
            [item for item in line if item not in set(known[user].indices)][:K]
            for user, line in enumerate(found.indices.tolist())
        ]
    )
    print(
        f"Factors of {made_by}: {len(users):,} users, {len(items):,} items, {items.shape[1]} numbers each."
    )
    print(
        f"{K} new items for each user, {time.perf_counter() - started:.2f} s. {found.work.choice}"
    )
    print(found.certificate)

    # The same from all inner products.
    scores = users.astype(np.float64) @ items.astype(np.float64).T
    scores[known.nonzero()] = -np.inf
    best = np.sort(scores, axis=1)[:, : -K - 1 : -1]
    same = np.isclose(np.take_along_axis(scores, new, axis=1), best).all()
    print(f"The plain product finds the same: {'yes' if same else 'no'}.")


if __name__ == "__main__":
    main()
