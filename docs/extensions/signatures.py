"""Signatures in the reference: none for classes that users are given and never make."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def shown(
    _app: Sphinx,
    what: str,
    _name: str,
    thing: Any,
    _options: Any,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """Return a signature as it is shown: a dataclass that describes attributes and no parameters has none."""
    words = getattr(thing, "__doc__", None) or ""
    given = dataclasses.is_dataclass(thing) and "Parameters\n" not in words
    return ("", None) if what == "class" and given else (signature, returned)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("autodoc-process-signature", shown)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
