"""Tables in Markdown, and pages that are written by hand but for the tables in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DOCS = Path(__file__).parents[2] / "docs"


def table(titles: Sequence[str], body: Iterable[Sequence[str]], words: int = 0) -> list[str]:
    """Return the lines of a table; the first column and the last `words` of them are no numbers.

    Examples
    --------
    >>> table(["a", "b"], [["1", "2"]])
    ['| a | b |', '| --- | ---: |', '| 1 | 2 |']
    """
    rule = ["---", *["---:"] * (len(titles) - 1 - words), *["---"] * words]
    return ["| " + " | ".join(line) + " |" for line in (titles, rule, *body)]


def left_aligned(titles: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, all columns of it aligned to the left.

    Examples
    --------
    >>> left_aligned(["a", "b"], [["1", "2"]])
    ['| a | b |', '| --- | --- |', '| 1 | 2 |']
    """
    return table(titles, body, words=len(titles) - 1)


def insert(text: str, name: str, lines: Iterable[str]) -> str:
    r"""Return the page with these lines between the marks of this name.

    Examples
    --------
    >>> page = "Prose.\n<!-- begin a -->\nold\n<!-- end a -->\nMore."
    >>> insert(page, "a", ["new"]).splitlines()
    ['Prose.', '<!-- begin a -->', 'new', '<!-- end a -->', 'More.']
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    before, has_begin, rest = text.partition(begin)
    _, has_end, after = rest.partition(end)
    if not (has_begin and has_end):
        raise ValueError(f"expected the marks {begin} and {end} in this order, got none")
    return "\n".join([f"{before}{begin}", *lines, f"{end}{after}"])


def rewrite(path: Path, parts: Mapping[str, Iterable[str]]) -> None:
    """Put the lines of each part between its marks in a page."""
    text = path.read_text(encoding="utf-8")
    for name, lines in parts.items():
        text = insert(text, name, lines)
    path.write_text(text, encoding="utf-8")
