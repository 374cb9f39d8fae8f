from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from measurements.speed import cases as speed_cases
from measurements.speed import targets
from tests.measurements.conftest import a_row

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row

FIRST = "low-rank, float32, row-major, bounds: scan"


def comparison(label: str, *found: Row) -> targets.Comparison:
    return next(one for one in targets.comparisons(found) if one.label == label)


@pytest.mark.parametrize(("ratio", "words"), [(15.0, "met"), (14.9, "not met")])
def test_a_ratio_is_compared_with_its_target(ratio: float, words: str) -> None:
    assert comparison(FIRST, a_row(ratio)).words == words


def test_without_a_row_nothing_is_met() -> None:
    compared = targets.comparisons([])
    assert {one.words for one in compared} == {"not measured"}
    assert targets.missed(compared, ["low-rank"])


def test_other_sizes_do_not_count() -> None:
    others = [a_row(asked_n=1_000), a_row(asked_N=10_000), a_row(k=1), a_row(size="small")]
    assert comparison(FIRST, *others).met is None


def test_the_last_row_counts() -> None:
    assert comparison(FIRST, a_row(1.0), a_row(20.0)).met


def test_only_the_workloads_asked_for_can_miss() -> None:
    compared = targets.comparisons([a_row()])
    names = {one.workload for one in targets.missed(compared, ["gaussian"])}
    assert names == {"gaussian"}


@pytest.mark.parametrize(
    ("label", "broken"),
    [
        ("extra memory, largest of all rows", {"peak_memory_growth": targets.MEMORY + 1}),
        ("same result with one thread and with several, rows", {"threads_agree": False}),
    ],
)
def test_one_bad_row_is_enough(label: str, broken: Row) -> None:
    assert comparison(label, a_row(), a_row()).met
    assert comparison(label, a_row(), a_row(**broken)).met is False


def test_every_target_has_a_case() -> None:
    cases = speed_cases.cases(speed_cases.WORKLOADS, "full", 12, 0, 2, "now")
    there = {tuple(getattr(case, name) for name in targets.FIELDS) for case in cases}
    for target in targets.TARGETS:
        assert there >= set(product(*(getattr(target, name).split() for name in targets.FIELDS)))
    assert all(case.queries >= 10 for case in cases if case.task != "batch")
