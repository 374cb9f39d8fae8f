"""Every size and batch against the fastest of the libraries that read everything."""

from __future__ import annotations
