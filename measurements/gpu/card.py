"""The library that makes data on a card: it is there where there is a card."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

torch: Any = None
if importlib.util.find_spec("torch") is not None:
    torch = importlib.import_module("torch")
