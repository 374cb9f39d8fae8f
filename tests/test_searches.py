"""The searches on record give the same answers, counts and certificates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.searches import RECORD, Search, as_recorded, searches

RECORDED = {row.pop("name"): row for row in map(json.loads, RECORD.read_text().splitlines())}

SEARCHES = searches()


def _close(found: Any, recorded: Any) -> bool:
    """Compare, but forgive the last digits of a number: sums of numpy may differ by machine."""
    if isinstance(recorded, dict):
        return found.keys() == recorded.keys() and all(
            _close(found[name], recorded[name]) for name in recorded
        )
    if isinstance(recorded, list):
        return len(found) == len(recorded) and all(map(_close, found, recorded))
    if isinstance(recorded, float):
        return bool(found == pytest.approx(recorded, rel=1e-12, abs=1e-300))
    return type(found) is type(recorded) and bool(found == recorded)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
def test_search_is_what_was_recorded(search: Search) -> None:
    found = json.loads(json.dumps(as_recorded(search.run())))
    recorded = RECORDED[search.name]
    differing = [name for name in recorded if not _close(found.get(name), recorded[name])]
    assert found.keys() == recorded.keys()
    assert not differing, [(found[name], recorded[name]) for name in differing]


def test_every_search_is_on_record() -> None:
    assert [search.name for search in SEARCHES] == list(RECORDED)
