"""The documents, and what they print: blocks of code, and commands within a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    path.relative_to(ROOT).as_posix()
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
]
# What a block is: code that is run, commands that are run, or text that nobody can run.
LANGUAGES = ("python", "sh", "text")
PROGRAMS = ("sureshot", "python", "make", "nox", "pip")


@dataclass(frozen=True)
class Block:
    """A block of a document between fences."""

    document: str
    line: int
    language: str
    text: str


def read(document: str) -> str:
    """Return the text of a document."""
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document: str, *languages: str) -> list[Block]:
    """Return the blocks of a document in some languages, or all of them."""
    text = read(document)
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    every = [Block(document, text[: one.start()].count("\n") + 1, one[1], one[2]) for one in found]
    return [one for one in every if not languages or one.language in languages]


def commands(document: str) -> list[str]:
    """Return the commands that a document prints, in blocks and within sentences."""
    lines = [line for block in blocks(document, "sh") for line in block.text.splitlines()]
    outside = re.sub(r"^```.*?^```$", "", read(document), flags=re.MULTILINE | re.DOTALL)
    inline = re.findall(rf"`((?:{'|'.join(PROGRAMS)})(?: [^`]+)?)`", outside)
    bare = (" ".join(re.sub(r"\s#.*", "", command).split()) for command in [*lines, *inline])
    return list(dict.fromkeys(command for command in bare if command and command != "sureshot"))
