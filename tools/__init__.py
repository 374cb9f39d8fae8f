"""Commands for those who release the library."""

from __future__ import annotations
