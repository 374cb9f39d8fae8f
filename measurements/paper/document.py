"""The generated parts of ``docs/reproducing-the-paper.md``, from rows.

``python -m measurements.paper.document ROWS PAGE`` puts them between the marks of the page, and the
figures beside it. ROWS is what ``sureshot reproduce all --out ROWS`` wrote.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from measurements.harness import page
from sureshot.experiments import drawing, reproduce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot.experiments.section import Section


def lines(section: Section, figures: str) -> list[str]:
    """Return a section in Markdown; `figures` is the folder of its figures, seen from the page."""
    return list(_lines(section, figures))


def _lines(section: Section, figures: str) -> Iterator[str]:
    yield section.setting
    yield ""
    for claim in section.claims:
        yield f"- *The paper:* {claim.paper}"
        yield from (f"- *Measured:* {said}" for said in claim.measured)
    for picture in section.pictures:
        yield ""
        yield f"![{picture.caption}]({figures}/{picture.name}.svg)"
    for table in section.tables:
        yield ""
        yield f"{table.caption}:"
        yield ""
        yield from page.table(table.titles, table.body, table.words)
    if section.notes:
        yield ""
        yield from (f"- {note}" for note in section.notes)


def write(found: Path, scale: str, document: Path) -> None:
    """Put the sections of the rows in a folder into a page, and their figures beside it."""
    figures = document.parent / "figures" / f"reproduce-{scale}"
    figures.mkdir(parents=True, exist_ok=True)
    sections = reproduce.sections(list(reproduce.EXPERIMENTS), scale, found)
    folder = f"figures/{figures.name}"
    page.rewrite(document, {section.name: lines(section, folder) for section in sections})
    for section in sections:
        for picture in section.pictures:
            drawn = drawing.svg(picture.name, picture.figure)
            (figures / f"{picture.name}.svg").write_text(drawn, encoding="utf-8")


@click.command()
@click.argument("found", metavar="ROWS", type=click.Path(path_type=Path, exists=True))
@click.argument("document", metavar="PAGE", type=click.Path(path_type=Path, exists=True))
@click.option("--scale", type=click.Choice(reproduce.SCALES), default="small", show_default=True)
def main(found: Path, document: Path, scale: str) -> None:
    """Write what the rows in the folder ROWS say into PAGE."""
    write(found, scale, document)


if __name__ == "__main__":
    main()
