from __future__ import annotations

import pytest

import sureshot
from measurements.speed import measure, profile
from tests.measurements.conftest import a_case


@pytest.mark.parametrize("order", ["row", "coordinate"])
def test_the_parts_add_up(order: str) -> None:
    case = a_case(asked_n=60, asked_N=2_000, order=order, queries=2)
    lines = profile.profile(measure.prepare(case, None), case)
    *table, _, about = lines
    *parts, together = [line.strip("|").split("|") for line in table[2:]]
    assert together[0].strip() == "**together**"
    assert about.startswith("The floor is ")
    total = sum(float(part[1].replace(",", "")) for part in parts)
    assert total == pytest.approx(float(together[1].replace(",", "")), rel=0.05)
    floors = [float(part[2].replace(",", "")) for part in parts if part[2].strip()]
    assert sum(floors) == pytest.approx(float(together[2].replace(",", "")), rel=0.05)
    assert {profile.REST, profile.PARTS[0][0]} <= {part[0].strip() for part in parts}


def test_of_nested_parts_the_innermost_has_the_time() -> None:
    stopwatch = profile.Stopwatch()
    inner = stopwatch.wrap("inner", lambda: None)
    stopwatch.wrap("outer", lambda: [inner(), inner()])()
    assert stopwatch.calls == {"outer": 1, "inner": 2}
    assert stopwatch.seconds.keys() == {"outer", "inner"}


def test_the_functions_are_put_back() -> None:
    before = sureshot.api.scan
    with profile.wrapped(profile.Stopwatch(), [("scan", "sureshot.api", "scan")]):
        assert sureshot.api.scan is not before
    assert sureshot.api.scan is before


def test_a_name_that_is_gone_is_reported() -> None:
    parts = [("?", "sureshot.api", "nothing")]
    with (
        pytest.raises(LookupError, match=r"sureshot\.api\.nothing"),
        profile.wrapped(profile.Stopwatch(), parts),
    ):
        pass
