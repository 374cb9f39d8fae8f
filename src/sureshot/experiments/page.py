"""Tables in Markdown, and pages that are written by hand but for the tables in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(titles: Sequence[str], body: Iterable[Sequence[str]], words: int = 0) -> list[str]:
    """Return the lines of a table; the first column and the last `words` of them are no numbers.

    Examples
    --------
    >>> table(["a", "b"], [["1", "2"]])
    ['| a | b |', '| --- | ---: |', '| 1 | 2 |']
    """
    rule = ["---", *["---:"] * (len(titles) - 1 - words), *["---"] * words]
    return ["| " + " | ".join(line) + " |" for line in (titles, rule, *body)]


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


def per_cent(share: float) -> str:
    """Return a share in per cent with about three digits.

    Examples
    --------
    >>> per_cent(0.00234567), per_cent(0.5), per_cent(1.0), per_cent(1234.5)
    ('0.235 %', '50.0 %', '100 %', '123,450 %')
    """
    digits = 0 if share >= 0.9995 else 1 if share >= 0.0995 else 2 if share >= 0.00995 else 3
    return f"{100 * share:,.{digits}f} %"
