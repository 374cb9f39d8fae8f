"""Makes checked requests ready to be searched: threads, scans, blocks, sources, problems.

- `top_k`: starts the team, scans if asked to, and puts the problem of each query together,
- `best_arms`: opens the journal and the event loop, and puts the problem together,
- `whole_scan`: scans all rows piece by piece, saves what it has found and goes on from there,
- `scanning`, `block_size`, `reward_intervals`, `query_range`: one decision each.

Sources are made here and nowhere else.
"""

from __future__ import annotations
