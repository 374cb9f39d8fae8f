"""Find the features that explain a target: keep those with the largest absolute correlations, then fit a Lasso to these alone."""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.linear_model import Lasso

import sureshot

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--samples", type=int, default=20_000)
parser.add_argument("--features", type=int, default=4_000)
parser.add_argument("--kept", type=int, default=100, help="features that the screen leaves")
settings = parser.parse_args()

# Features in columns, as everybody has them, with a few hidden causes that they share.
rng = np.random.default_rng(0)
causes = rng.standard_normal((settings.samples, 10), dtype=np.float32)
X = rng.standard_normal((settings.samples, settings.features), dtype=np.float32)
X += 0.1 * causes @ rng.standard_normal((10, settings.features), dtype=np.float32)
relevant = rng.choice(settings.features, 5, replace=False)
y = X[:, relevant] @ np.array([3.0, -2.5, 2.0, -2.0, 1.5]) + rng.standard_normal(settings.samples)
y -= y.mean()

# A column is a row of X.T, which is not a copy. One scan finds the norms: |correlation| is |<x, y>| / |x|.
bounds = sureshot.scan(X.T)
found = sureshot.top_k(
    X.T,
    y,
    k=settings.kept,
    metric="abs-ip",
    row_scale=1 / np.asarray(bounds.norms),
    bounds=bounds,
    rng=0,
)
kept = np.sort(found.indices)
print(
    f"{len(kept)} of {settings.features:,} features kept, {found.work.share:.1%} of the numbers read."
)
print(f"{np.isin(relevant, kept).sum()} of {len(relevant)} relevant features are among them.")
print(found.certificate)

# The Lasso of the kept features is that of all features if no other feature is correlated with what is left
# of the target by more than alpha: one more question, to all columns.
alpha = 0.5
lasso = Lasso(alpha=alpha).fit(X[:, kept], y)
left = y - lasso.predict(X[:, kept])
worst = sureshot.top_k(X.T, left, k=1, metric="abs-ip", bounds=bounds, rng=1)
same = worst.scores[0] <= alpha * settings.samples * (1 + 1e-3)
print(
    f"{np.count_nonzero(lasso.coef_)} coefficients; the Lasso of all features: {'yes' if same else 'no'}."
)
