"""What the figures and tables say of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sureshot.experiments import fig2, speed_up

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row


def row(method: str, k: int = 5, **changed: Any) -> Row:
    """Return a row: twice as fast as the exact product, half of the numbers, all of the answers."""
    return {
        "method": method,
        "k": k,
        "rows": 10,
        "coordinates": 100,
        "queries": 2,
        "build": [],
        "knobs": [["epsilon", 0.1], ["delta", 0.05]],
        "preparation_seconds": 3.0,
        "exact_seconds": [0.2, 0.2],
        "seconds": [0.1, 0.1],
        "numbers_read": [500, 500],
        "precision": [1.0, 1.0],
        "promised_epsilon": [0.1, 0.1],
        **changed,
    }


REFUSED = {
    name: value
    for name, value in row("GreedyMIPS").items()
    if name not in ("exact_seconds", "seconds", "numbers_read", "precision", "promised_epsilon")
} | {"refused": "expected other data"}


def test_only_what_promises_more_than_it_was_asked_for_has_no_guarantee() -> None:
    true_range = row("BoundedME, R = 1")
    broken = row("BoundedME, R = 1, columns", promised_epsilon=[0.1, 4.5])
    stopped = row("betting", promised_epsilon=[None, 4.5])  # by its budget, and it says so
    assert speed_up.titles([true_range, broken, stopped]) == {
        "betting": "betting",
        "BoundedME, R = 1": "BoundedME, R = 1",
        "BoundedME, R = 1, columns": "BoundedME, R = 1, by columns: no guarantee",
    }


def test_searches_with_a_budget_have_a_curve_of_their_own() -> None:
    asked = [["epsilon", 0.0], ["delta", 0.05], ["budget", 0.2]]
    found = [row("betting"), row("betting", knobs=asked, seconds=[0.05, 0.05]), row("GreedyMIPS")]
    assert list(speed_up.titles(found)) == ["betting", "betting, budget", "GreedyMIPS"]
    by_clock, _ = speed_up.findings(found, 5)
    assert "betting with a budget 4×, " in by_clock
    assert [line[:2] for line in speed_up.summary(found, 5).body][1] == [
        "betting with a budget",
        "1",
    ]


def test_the_range_is_what_the_promises_say() -> None:
    found = [row("BoundedME, R = 1", promised_epsilon=[3.5, 4.51]), row("betting"), REFUSED]
    (note,) = fig2.unit_range(found)
    assert "a range R of 35 to 45, depending on the query" in note
    assert fig2.unit_range([row("betting")]) == []


def test_the_findings_rank_precise_methods() -> None:
    found = [
        row("betting"),
        row("betting", seconds=[0.001, 0.001], precision=[0.5, 1.0]),  # faster, and not precise
        row("LSHMIPS", seconds=[0.4, 0.4], numbers_read=[1, 1]),
        row("PCAMIPS", precision=[0.0, 1.0]),
        row("PCAMIPS", k=10),
        REFUSED,
    ]
    clock, numbers = speed_up.findings(found, 5)
    assert clock == (
        "Top 5, precision 0.9 or more, online speed-up by the clock: betting 2×, LSH-MIPS 0.5×; "
        "never: Greedy-MIPS, PCA-MIPS."
    )
    assert "LSH-MIPS 1,000×, betting 2×; never" in numbers


def test_a_refusal_is_a_note_and_no_point() -> None:
    section = speed_up.section("fig2", "Figure 2", [row("betting"), REFUSED], "claim", ["note"])
    assert section.notes == ["note", "Greedy-MIPS refused: expected other data."]
    assert [line[0] for line in section.tables[0].body] == ["betting"]
    empty = speed_up.section("fig2", "Figure 2", [REFUSED], "claim", [])
    assert "took an unknown time" in empty.setting
    assert empty.tables[0].body == []


def test_the_origin_of_the_data_is_named() -> None:
    found = [row("betting", origin="a.npz: 3 ratings"), row("LSHMIPS", origin="b.npz: 4 ratings")]
    section = speed_up.section("fig4", "Figure 4", found, "claim", [])
    assert "From a.npz: 3 ratings. From b.npz: 4 ratings. The exact" in section.setting
