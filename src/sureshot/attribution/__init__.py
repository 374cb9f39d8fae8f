"""Training-data attribution: find the stored gradients that are most like that of a test example.

`open_store` opens what bergson, TRAK and dattri store, or a ``.npy`` file, and ``store.top_k`` searches it. See
``docs/attribution.md``.
"""

from __future__ import annotations

from sureshot.attribution.checkpoints import Checkpoints
from sureshot.attribution.errors import StoreError
from sureshot.attribution.opening import open_store
from sureshot.attribution.projection import GaussianProjection, ProjectionQuality, judge_projection
from sureshot.attribution.store import Store
from sureshot.attribution.torch_gradients import example_gradients, write_gradients
from sureshot.attribution.writing import StoreWriter

__all__ = [
    "Checkpoints",
    "GaussianProjection",
    "ProjectionQuality",
    "Store",
    "StoreError",
    "StoreWriter",
    "example_gradients",
    "judge_projection",
    "open_store",
    "write_gradients",
]
