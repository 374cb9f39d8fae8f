"""The gallery: the examples with a title, and pictures of the results that they find."""

from __future__ import annotations

import ast
import functools
import re
from typing import TYPE_CHECKING, Any

import sureshot
from sureshot import api

if TYPE_CHECKING:
    from pathlib import Path

# Run when the site is built: those that take seconds. The others are shown with the figure that was committed.
EXECUTED = (
    r"(quickstart|nearest_gradients|pick_the_best_\w+|recommend_items|screen_features|"
    r"search_compressed_rows)\.py$"
)
FIGURES = {"find_flipped_labels.py": "flipped-labels.svg"}

HEADER = """\
Examples
========

Whole programs of the folder ``examples``: download one and run it. Where output is shown, they were run when the site was built, and the last of their searches is drawn.
The figure of the search for wrong labels is from `a longer run <../attribution.html#an-example-find-wrong-labels>`__.
"""
# The results that the example of the moment has found.
FOUND: list[sureshot.TopK] = []


def prepare(source: Path, target: Path) -> None:
    """Copy the examples, each with its first sentence as a title, as a gallery wants it."""
    target.mkdir(parents=True, exist_ok=True)
    wanted = {"GALLERY_HEADER.rst": HEADER}
    for path in source.glob("*.py"):
        figure = FIGURES.get(path.name)
        wanted[path.name] = with_title(path.read_text(encoding="utf-8"), figure)
    for old in target.iterdir():
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        path = target / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def with_title(source: str, figure: str | None = None) -> str:
    r'''Return a program whose docstring begins with a title: its first sentence, or what comes before a colon there.

    It ends with a figure of the documents, if one is named.

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
    text = re.sub(r"\n\n(?=    \S)", r"\n\n::\n\n", text)  # what is indented is code
    if figure is not None:
        text += f"\n\n.. image:: /figures/{figure}\n   :alt: {title}"
        source += f'\n# sphinx_gallery_thumbnail_path = "figures/{figure}"\n'
    return re.sub(r'^"""(.*?)"""', lambda _: f'"""\n{text}\n"""', source, count=1, flags=re.DOTALL)


def remember_results(_: object, __: object) -> None:
    """Before an example: forget the results of the last one, and keep those that come."""
    FOUND.clear()
    for name in ("top_k", "best_arms"):
        search = getattr(api, name)

        @functools.wraps(search)
        def remembering(*arguments: Any, _search: Any = search, **options: Any) -> sureshot.TopK:
            result: sureshot.TopK = _search(*arguments, **options)
            FOUND.append(result)
            return result

        setattr(sureshot, name, remembering)


def drawn_results(_: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Draw the race of the last result of an example."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - slow, and only here
    from sphinx_gallery.scrapers import figure_rst  # noqa: PLC0415 - the same

    shown = [one for one in variables["example_globals"].values() if isinstance(one, sureshot.TopK)]
    races = [one for one in [*shown, *FOUND] if len(one.queries) == 1 and len(one.rounds) > 1]
    if not races:
        return ""
    path = next(variables["image_path_iterator"])
    axes = races[-1].plot()
    axes.figure.savefig(path)
    plt.close(axes.figure)
    FOUND.clear()
    return str(figure_rst([path], settings["src_dir"], "The race, as result.plot() draws it"))
