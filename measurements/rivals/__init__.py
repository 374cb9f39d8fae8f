"""What the searches of the library are compared with."""

from __future__ import annotations
