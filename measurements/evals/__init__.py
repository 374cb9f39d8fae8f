"""What a search saves among models that are paid by the answer: docs/evals.md."""

from __future__ import annotations
