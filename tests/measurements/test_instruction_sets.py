from __future__ import annotations

from measurements.speed import instruction_sets
from sureshot import _native


def test_every_search_has_a_time_with_every_instruction_set() -> None:
    before = _native.instruction_set()
    lines = instruction_sets.measure(240, 500, 1)
    assert [line[0] for line in lines] == [
        search.what for search in instruction_sets.searches(240, 500)
    ]
    for line in lines:
        assert len(line) == 2 + len(_native.instruction_sets())
        assert all(float(time) > 0 for time in line[2:])
    assert _native.instruction_set() == before
