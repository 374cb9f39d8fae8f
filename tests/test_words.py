"""Plain words: what the project no longer says, and what it says instead."""

from __future__ import annotations

import re

import pytest

from tests.documents import DOCUMENTS, ROOT
from tests.test_names import NATIVE, PYTHON

# Metaphors and old words, with what to write in their place. Names count as well as sentences.
INSTEAD = {
    "anybody": "who it is: the caller, another namespace",
    "dear": "expensive",
    "disguise": "the type as which it is read",
    "disguises": "the types as which they are read",
    "door": "the public functions, the checks",
    "flight": "calls in progress",
    "flights": "calls in progress",
    "foretell": "predict",
    "foretells": "predicts",
    "foretold": "predicted",
    "hopeless": "to be read to the end",
    "landed": "completed",
    "nobody": "unknown, or who it is",
    "told": "reported, given, or separated",
    "whatever": "any, every, for all",
}
ABANDONED = re.compile(rf"(?<![a-z])(?:{'|'.join(INSTEAD)})(?![a-z])", re.IGNORECASE)

FILES = [
    *DOCUMENTS,
    *(path for path in PYTHON if not path.startswith("tests/")),
    *NATIVE,
    *(
        path.relative_to(ROOT).as_posix()
        for pattern in ("*.pyi", "*.jinja", "*.cu", "*.cuh")
        for path in sorted((ROOT / "src").rglob(pattern))
    ),
]


def abandoned_words(text: str) -> list[str]:
    """Return the words of a text that the project no longer uses: line, word, and what to write."""
    return [
        f"line {number}: {word!r}, better: {INSTEAD[word.lower()]}"
        for number, line in enumerate(text.splitlines(), 1)
        for word in ABANDONED.findall(line)
    ]


@pytest.mark.parametrize("path", FILES)
def test_words_are_plain(path: str) -> None:
    assert abandoned_words((ROOT / path).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Whatever the data is", "Whatever"),
        ("def foretold_front(self)", "foretold"),
        ("a round is told", "told"),
        ("DISGUISES = {}", "DISGUISES"),
    ],
)
def test_an_abandoned_word_is_seen(text: str, word: str) -> None:
    (found,) = abandoned_words(f"first line\n{text}")
    assert found.startswith(f"line 2: {word!r}")


def test_other_words_are_not_seen() -> None:
    assert abandoned_words("bold, threshold, indoor, whatsoever, endeared") == []
