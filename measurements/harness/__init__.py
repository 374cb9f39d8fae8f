"""What all measurements share: options, the machine, pages, data that is ready to be searched."""

from __future__ import annotations
