"""The report: one page that needs nothing from outside, from the sections."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING

from sureshot.experiments import drawing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sureshot.experiments.rows import Row
    from sureshot.experiments.section import Section

TEMPLATE = "report.html.jinja"


def write(sections: Sequence[Section], scale: str, environment: Row, out: Path) -> Path:
    """Write ``report.html`` and the figures of the sections into a folder.

    Parameters
    ----------
    sections
        What the report has.
    scale
        Of the rows.
    environment
        Versions and machine of the rows.
    out
        The folder.

    Returns
    -------
    Path
        The page.
    """
    drawn = {
        picture.name: drawing.svg(picture.name, picture.figure)
        for section in sections
        for picture in section.pictures
    }
    figures = out / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    for name, text in drawn.items():
        (figures / f"{name}.svg").write_text(text, encoding="utf-8")
    page = out / "report.html"
    page.write_text(html(sections, scale, environment, drawn), encoding="utf-8")
    return page


def html(sections: Sequence[Section], scale: str, environment: Row, drawn: dict[str, str]) -> str:
    """Return the page as text; `drawn` has the SVG of each picture by its name."""
    import jinja2  # noqa: PLC0415 - an extra

    source = resources.files("sureshot.experiments").joinpath(TEMPLATE).read_text(encoding="utf-8")
    template = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    ).from_string(source)
    inlined = {name: inline(name, text) for name, text in drawn.items()}
    return template.render(sections=sections, scale=scale, environment=environment, drawn=inlined)


def inline(name: str, svg: str) -> str:
    """Return an SVG file as a part of a page.

    Without what stands before its root, without metadata, described by the caption of the figure, and
    with ids that no other figure has.

    Examples
    --------
    >>> inline("a", '<?xml version="1.0"?><svg><metadata>x</metadata><g id="b"/><use href="#b"/></svg>')
    '<svg role="img" aria-labelledby="a-caption"><g id="a-b"/><use href="#a-b"/></svg>'
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", body)
    return body.replace("<svg", f'<svg role="img" aria-labelledby="{name}-caption"', 1)
