"""One part of the report: figures, tables, and the paper's claims beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Claim:
    """What the paper says, and what the rows say, sentence by sentence."""

    paper: str
    measured: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of words and numbers: words in the first column and in the last `words` of them."""

    caption: str
    titles: tuple[str, ...]
    body: list[list[str]]
    words: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """A matplotlib figure, the name of its file, and what it shows."""

    name: str
    caption: str
    figure: Any


@dataclass(frozen=True, slots=True)
class Section:
    """Everything that the report says of one figure or table of the paper."""

    name: str
    title: str
    setting: str
    claims: list[Claim] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
