"""Puts generated lines between the marks of a page that is otherwise written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def insert(text: str, name: str, lines: Iterable[str]) -> str:
    r"""Return the page with these lines between the marks of this name.

    Examples
    --------
    >>> page = "Prose.\n<!-- begin a -->\nold\n<!-- end a -->\nMore."
    >>> insert(page, "a", ["new"]).splitlines()
    ['Prose.', '<!-- begin a -->', 'new', '<!-- end a -->', 'More.']
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found_begin and found_end):
        raise ValueError(f"expected the marks {begin} and {end} in this order, got none")
    return "\n".join([f"{before}{begin}", *lines, f"{end}{after}"])
