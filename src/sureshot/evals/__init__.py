"""Choosing among models, prompts and programs that are paid by the answer, with `sureshot.best_arms`.

`inspect_pull`, `lm_eval_pull` and `gepa_pull` make the function that a search calls for just the answers that
it needs; `gepa_race` lets GEPA evaluate its programs that way; `replay` says what a search would have
saved on results that exist. See ``docs/evals.md``.

Examples
--------
>>> import numpy as np
>>> right = np.random.default_rng(0).random((8, 1000)) < np.linspace(0.2, 0.9, 8)[:, None]
>>> found = replay(right, epsilon=0.05, orders=10)
>>> found["best_arms"].right, found["best_arms"].share < 0.3
(1.0, True)
"""

from __future__ import annotations

from sureshot.evals.gepa_pulls import gepa_pull
from sureshot.evals.gepa_race import gepa_race
from sureshot.evals.inspect_pulls import inspect_pull
from sureshot.evals.lm_eval_pulls import lm_eval_pull
from sureshot.evals.pulls import Pulls
from sureshot.evals.replay import replay
from sureshot.evals.replayed import Outcome, Replayed, Strategy

__all__ = [
    "Outcome",
    "Pulls",
    "Replayed",
    "Strategy",
    "gepa_pull",
    "gepa_race",
    "inspect_pull",
    "lm_eval_pull",
    "replay",
]
