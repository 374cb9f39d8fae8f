from __future__ import annotations

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


@pytest.mark.parametrize(("ratio", "words"), [(30.0, "met"), (29.9, "not met")])
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
    assert comparison(FIRST, a_row(1.0), a_row(30.0)).met


def test_the_widest_rows_have_a_target_of_their_own() -> None:
    label = "low-rank, 2,000 × 1,000,000, float32, row-major, bounds: scan"
    assert comparison(label, a_row(51.0)).met is None
    assert comparison(label, a_row(51.0, asked_n=2_000, asked_N=1_000_000)).met


def test_a_batch_is_compared_with_its_faster_rival() -> None:
    label = f"{FIRST}, batch of 16, the faster of numpy and faiss"
    row = a_row(7.0, task="batch", ratios={"numpy": 7.0, "faiss": 5.0, "usearch": 1.0})
    assert comparison(label, row).words == "not met"
    assert comparison(label, row).measured == "5 ×"


def test_upsampled_images_have_no_target() -> None:
    assert not any("images" in one.label for one in targets.comparisons([]))


def test_batches_may_take_more_memory() -> None:
    more = {"peak_memory_growth": targets.MEMORY + 1}
    assert comparison("extra memory, largest of all batches", a_row(task="batch", **more)).met


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
    for target in targets.TARGETS:
        for wanted in targets.wanted_by(target):
            assert any(
                all(getattr(case, name) == value for name, value in wanted.items())
                for case in cases
            )
    assert all(case.queries >= 10 for case in cases if case.task != "batch")
