"""What the rules of the policy are worth, and the costs that they compare: docs/policy.md."""

from __future__ import annotations
