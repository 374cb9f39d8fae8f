from __future__ import annotations

import time

from sureshot.experiments import clock


def test_the_sides_take_turns() -> None:
    called: list[tuple[str, int]] = []
    times = clock.in_turn(
        {
            "ours": lambda i: called.append(("ours", i)),
            "theirs": lambda i: called.append(("theirs", i)),
        },
        range(2),
        rest=0,
    )
    assert called == [("ours", 0), ("theirs", 0), ("ours", 1), ("theirs", 1)]
    assert [len(found.seconds) for found in times.values()] == [2, 2]


def test_only_rivals_are_left_out_when_slow() -> None:
    def slow(_position: int) -> None:
        time.sleep(0.001)

    times = clock.in_turn({"ours": slow, "theirs": slow}, range(6), patience=0, rest=0)
    assert len(times["ours"].seconds) == 6
    assert len(times["theirs"].seconds) == clock.FEWEST


def test_short_calls_are_repeated_and_the_first_result_counts() -> None:
    made: list[int] = []

    def call(position: int) -> int:
        made.append(position)
        return len(made)

    times = clock.in_turn({"ours": call}, range(2), rest=0, short=60)["ours"]
    assert made == [0, 0, 0, 1, 1, 1]
    assert times.results == [1, 4]
    assert len(times.seconds) == 2


def test_medians_and_quartiles() -> None:
    times = clock.Times(seconds=[3.0, 1.0, 2.0, 5.0, 4.0])
    assert times.median == 3
    assert times.quartiles == [2, 4]
