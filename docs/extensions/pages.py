"""Pages that are read on GitHub, too: what they include, and where their links lead on the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measurements.advice import measured

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
INCLUDE = re.compile(r"^<!-- (include|code) (\S+) -->$", re.MULTILINE)
ADVICE = "<!-- table advice -->"
TABLE_LINE = re.compile(r"^\|.*", re.MULTILINE)
# What must not be broken in the narrow columns of tables: 1,000 × 20,000, 4 %, 8 GB, 13 ms.
NUMBERS = re.compile(r"(?<=\d) (?=[×%]|[GMK]B\b|[mµ]?s\b)|(?<=\d ×) (?=\d)")
LINK = re.compile(r"\[([^]]*)\]\((?![a-z]+:)([^)#\s]+)(#[^)\s]*)?\)")
# Files of the repository that are pages of the site.
PAGES = {
    "README.md": "project/overview.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CITATION.cff": "project/citing.md",
}
# Pages that have their place in the navigation, and need not be there.
OPTIONAL = ("evals", "gpu", "trust")


def page_of(path: str) -> str:
    """Return the page, or the file, of the site for a file of the repository.

    Examples
    --------
    >>> page_of("docs/theory.md"), page_of("examples/quickstart.py"), page_of("CITATION.cff")
    ('theory.md', 'gallery/quickstart.rst', 'project/citing.md')
    """
    if path in PAGES:
        return PAGES[path]
    if found := re.fullmatch(r"examples/(\w+)\.py", path):
        return f"gallery/{found[1]}.rst"
    return path.removeprefix("docs/") if path.startswith("docs/") else f"../{path}"


def title_of(path: Path) -> str:
    """Return the title of a page, which is what the site calls it; GitHub's readers see files."""
    if path == ROOT / "README.md":
        return "Start"
    first = path.read_text(encoding="utf-8").partition("# ")[2]
    return first.partition("\n")[0]


def for_site(text: str, folder: str, docname: str) -> str:
    """Return a text whose links, of a file in that folder of the repository, lead from a page of the site."""
    up = "../" * docname.count("/")

    def lead(match: re.Match[str]) -> str:
        target = (ROOT / folder / match[2]).resolve()
        if target.is_dir():  # GitHub shows folders, a site does not
            return match[1]
        if not target.is_relative_to(ROOT) or not target.exists():
            return match[0]
        page = page_of(target.relative_to(ROOT).as_posix())
        named = match[1].endswith(target.name) and target.suffix == ".md"
        return f"[{title_of(target) if named else match[1]}]({up}{page}{match[3] or ''})"

    return LINK.sub(lead, text)


def without_absent(app: Sphinx, text: str) -> str:
    """Return a text without the lines of a navigation that name optional pages which are not there."""
    for name in OPTIONAL:
        page, line = ROOT / "docs" / f"{name}.md", f"\n{name}\n"
        if line in text and not page.exists():
            app.env.note_dependency(
                str(page)
            )  # so that the navigation is read again once it is there
            text = text.replace(line, "\n")
    return text


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put in what a page includes, and turn its links."""
    if docname.startswith(("api/", "gallery/")):
        return

    def included(match: re.Match[str]) -> str:
        app.env.note_dependency(str(ROOT / match[2]))
        text = (ROOT / match[2]).read_text(encoding="utf-8")
        if match[2] == "README.md":  # the front page has the name
            text = text.replace("# sureshot", "# Start", 1)
        if match[1] == "code":
            return f"```yaml\n{text}```"
        return for_site(text, Path(match[2]).parent.as_posix(), docname)

    folder = (Path("docs") / docname).parent.as_posix()
    own = for_site(without_absent(app, source[0]), folder, docname)
    text = INCLUDE.sub(included, own).replace(ADVICE, "\n".join(measured.table()))
    source[0] = TABLE_LINE.sub(lambda line: NUMBERS.sub("\u00a0", line[0]), text)


def lead_from_docstring(
    _app: Sphinx, _what: str, _name: str, _thing: Any, _options: Any, lines: list[str]
) -> None:
    """Make links of the pages that docstrings name as files."""
    lines[:] = [re.sub(r"``docs/([\w-]+)\.md``", r":doc:`/\1`", line) for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", lead_from_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
