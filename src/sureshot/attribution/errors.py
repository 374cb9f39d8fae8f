"""What stores raise: files that are not a store, cut off, still being written, or changed."""

from __future__ import annotations


class StoreError(ValueError):
    """A folder or file holds no store of gradients, or one that cannot be relied on."""
