"""The picture of the front page: a race of arms."""

from __future__ import annotations
