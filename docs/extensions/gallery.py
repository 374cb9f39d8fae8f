"""The gallery: the examples with a title, and pictures of the results that they find."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import sureshot

if TYPE_CHECKING:
    from pathlib import Path

# Run when the site is built: those that take seconds. The others are shown with what they printed.
EXECUTED = (
    r"(quickstart|nearest_gradients|screen_features|search_compressed_rows|recommend_items)\.py$"
)

HEADER = """\
Examples
========

Whole programs of the folder ``examples``: download one and run it.
"""


def prepare(source: Path, target: Path) -> None:
    """Copy the examples, each with its first sentence as a title, as a gallery wants it."""
    target.mkdir(parents=True, exist_ok=True)
    wanted = {"GALLERY_HEADER.rst": HEADER}
    wanted |= {
        path.name: with_title(path.read_text(encoding="utf-8")) for path in source.glob("*.py")
    }
    for old in target.iterdir():
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        path = target / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def with_title(source: str) -> str:
    r'''Return a program whose docstring begins with a title: its first sentence, or what comes before a colon there.

    Examples
    --------
    >>> print(with_title('"""Find it: all of it.\n\nIn a file.\n"""\n'), end="")
    """
    Find it
    =======
    <BLANKLINE>
    Find it: all of it.
    <BLANKLINE>
    In a file.
    """
    '''
    docstring = ast.get_docstring(ast.parse(source)) or ""
    first, _, rest = docstring.partition("\n\n")
    sentence = " ".join(first.split()).removesuffix(".")
    title, colon, _ = sentence.partition(": ")
    text = f"{title}\n{'=' * len(title)}\n\n{docstring if colon else rest}".strip()
    return re.sub(r'^"""(.*?)"""', lambda _: f'"""\n{text}\n"""', source, count=1, flags=re.DOTALL)


def drawn_results(_: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Draw the race of the last result of a program, if it has drawn nothing itself."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - slow, and only here
    from sphinx_gallery.scrapers import figure_rst  # noqa: PLC0415 - the same

    found = [
        one
        for one in variables["example_globals"].values()
        if isinstance(one, sureshot.TopK) and len(one.queries) == 1 and one.algorithm == "race"
    ]
    if not found:
        return ""
    path = next(variables["image_path_iterator"])
    axes = found[-1].plot()
    axes.figure.savefig(path)
    plt.close(axes.figure)
    return str(figure_rst([path], settings["src_dir"], "The race, as result.plot() draws it"))
