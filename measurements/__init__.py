"""Measurements: rows of JSON first, tables and figures from the rows.

Run them from the root of the repository, as in ``python -m measurements.share.run``. Each room makes one page
of the documents: `speed` benchmarks.md, `share` share.md, `policy` policy.md, `theory` theory.md,
`bandits` bandits.md, `estimators` estimators.md, `solvers` solvers.md, `paper` reproducing-the-paper.md. What they share is in `harness`, `workloads` and
`rivals`; rows, the clock, the metrics and the true scores are those of `sureshot.experiments`.
"""

from __future__ import annotations
