"""What a search returns: the answer, the certificate, the work, the rounds, the picture."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from tests.conftest import CERTAIN, SMALLEST_FIRST
from tests.racing import raced  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot import RoundInfo, TopK

DATA = np.random.default_rng(3).random((60, 301), dtype=np.float32)
QUERIES = np.random.default_rng(4).standard_normal((3, 301))
# An epsilon at which a method that samples needs a part of the numbers only, in several rounds.
EPSILON = 600.0


def one_query(method: str, **more: Any) -> TopK:
    return several_queries(method, query=QUERIES[0], **more)


def several_queries(method: str, **more: Any) -> TopK:
    arguments: dict[str, Any] = {"query": QUERIES, "k": 4, "bounds": (0, 1), "epsilon": EPSILON}
    return sureshot.top_k(DATA, method=method, rng=5, **(arguments | more))


def best_arms(method: str, **more: Any) -> TopK:
    arguments: dict[str, Any] = {"k": 4, "epsilon": 0.9, "delta": 0.05, "rng": 5}
    return sureshot.best_arms(
        lambda arms, js: DATA[np.ix_(arms, js)], *DATA.shape, method=method, **(arguments | more)
    )


RESULTS: dict[str, Callable[..., TopK]] = {
    "one query": one_query,
    "several queries": several_queries,
    "best arms": best_arms,
}
every_result = pytest.mark.parametrize("kind", RESULTS)


@every_result
def test_unpacks_as_scores_and_indices(method: str, kind: str) -> None:
    result = RESULTS[kind](method)
    scores, indices = result
    assert scores is result.scores
    assert indices is result.indices
    assert scores.shape == indices.shape == ((3, 4) if kind == "several queries" else (4,))
    assert scores.dtype == np.float64
    assert indices.dtype == np.int64


@every_result
def test_frozen(method: str, kind: str) -> None:
    result = RESULTS[kind](method)
    for record in (result, result.certificate, result.work, result.rounds[0]):
        for field in dataclasses.fields(record):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(record, field.name, None)
    for array in (*result, *(array for query in result.queries for array in query)):
        with pytest.raises(ValueError, match="read-only"):
            array[..., 0] = 0


def same(one: TopK, other: TopK) -> bool:
    return (
        np.array_equal(one.scores, other.scores)
        and np.array_equal(one.indices, other.indices)
        and (one.certificate, one.work, one.rounds) == (other.certificate, other.work, other.rounds)
        and len(one.queries) == len(other.queries)
    )


every_travel = pytest.mark.parametrize(
    "travel", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy], ids=["pickle", "deepcopy"]
)


@every_result
@every_travel
def test_travels_whole(method: str, kind: str, travel: Callable[[TopK], TopK]) -> None:
    result = RESULTS[kind](method)
    arrived = travel(result)
    assert same(arrived, result)
    if kind == "several queries":
        assert all(map(same, arrived.queries, result.queries))


@every_travel
def test_arrives_frozen(travel: Callable[[TopK], TopK]) -> None:
    arrived = travel(several_queries("exact"))
    arrays = [*arrived, *(array for query in arrived.queries for array in query)]
    assert not any(array.flags.writeable for array in arrays)


@every_result
def test_repr_tells_the_answer_the_cost_and_the_promise(method: str, kind: str) -> None:
    result = RESULTS[kind](method)
    text = repr(result)
    assert text.startswith("TopK(")
    assert str(result.indices.flat[0]) in text
    assert f"{result.scores.flat[0]:.2f}"[:-1] in text
    assert f"{result.work.numbers_read:,}" in text
    assert str(result.certificate) in text


@every_result
def test_certificate_says_in_words_what_it_says_in_numbers(method: str, kind: str) -> None:
    result = RESULTS[kind](method)
    for certificate in (result.certificate, *(query.certificate for query in result.queries)):
        text = str(certificate)
        assert certificate.assumption
        assert certificate.assumption in text
        assert ("exact answer" in text) == certificate.exact
        assert ("estimate" in text) == (certificate.scores == "estimate")
        if certificate.exact:
            assert (certificate.epsilon, certificate.delta) == (0, 0)
            assert certificate.scores == "exact"
        else:
            assert f"{1 - certificate.delta:.6g}" in text
            assert f"{certificate.epsilon:.6g}" in text
            assert ("position by position" in text) == certificate.every_position
            assert ("k-th best" in text) == (not certificate.every_position)
    if method == "exact":
        assert result.certificate.exact


@every_result
def test_work_adds_up(method: str, kind: str) -> None:
    result = RESULTS[kind](method)
    work = result.work
    for query in result.queries:
        assert query.work.share == query.work.numbers_read / DATA.size
        assert query.work.rounds == len(query.rounds) > 0
        assert query.rounds[-1].numbers_read <= query.work.numbers_read
        assert query.work.seconds > 0
    itemsize = 8 if kind == "best arms" else DATA.itemsize
    assert work.bytes_read == work.numbers_read * itemsize
    assert work.seconds == pytest.approx(sum(query.work.seconds for query in result.queries))
    for name in ("numbers_read", "numbers_scanned", "bytes_read", "rounds", "exact_scores"):
        assert getattr(work, name) == sum(getattr(query.work, name) for query in result.queries)
    assert work.share == pytest.approx(np.mean([query.work.share for query in result.queries]))
    if method == "exact":
        # Every number once for a screen, or for the scores, and once more for those that a screen leaves.
        for query in result.queries:
            assert len(query.indices) <= query.work.exact_scores <= len(DATA)
            again = query.work.numbers_read - DATA.size
            assert again in (0, query.work.exact_scores * DATA.shape[1])


@every_result
def test_to_dict_is_ready_for_json(method: str, kind: str) -> None:
    result = RESULTS[kind](method)
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert read == result.to_dict()
    assert read["scores"] == result.scores.tolist()
    assert read["indices"] == result.indices.tolist()
    assert read["certificate"] == dataclasses.asdict(result.certificate)
    assert read["work"] == dataclasses.asdict(result.work)
    # Every round once: in the query that it belongs to.
    owners = read["queries"] if kind == "several queries" else [read]
    told = [info for owner in owners for info in owner["rounds"]]
    assert told == [dataclasses.asdict(info) for info in result.rounds]
    assert ("rounds" in read) == (kind != "several queries")
    assert len(read["queries"]) == (3 if kind == "several queries" else 0)


@every_result
def test_progress_is_told_each_round_as_it_ends(method: str, kind: str) -> None:
    told: list[RoundInfo] = []
    result = RESULTS[kind](method, progress=told.append)
    assert tuple(told) == result.rounds
    assert [info.query for info in told] == sorted(info.query for info in told)
    for position, query in enumerate(result.queries):
        assert {info.query for info in query.rounds} == {position}
        assert [info.round for info in query.rounds] == list(range(1, len(query.rounds) + 1))
        read = [info.numbers_read for info in query.rounds]
        assert read == sorted(read)
        assert all(0 <= info.arms <= len(DATA) for info in query.rounds)
    assert tuple(info for query in result.queries for info in query.rounds) == result.rounds


def test_the_threshold_is_in_the_units_of_the_scores(method: str, metric: str) -> None:
    result = one_query(method, metric=metric, epsilon=0, delta=CERTAIN)
    sign = -1 if metric in SMALLEST_FIRST else 1
    known = [sign * info.threshold for info in result.rounds if info.threshold is not None]
    # It only ever improves, and never beyond the true k-th best score.
    assert known == sorted(known)
    assert all(threshold <= sign * result.scores[-1] for threshold in known)
    if method == "exact":
        assert known[-1] == sign * result.scores[-1]


def test_a_stack_promises_what_holds_for_each_query(method: str) -> None:
    result = several_queries(method)
    alone = [query.certificate for query in result.queries]
    assert result.certificate.epsilon == max(one.epsilon for one in alone)
    assert result.certificate.delta == max(one.delta for one in alone)
    assert result.certificate.exact == all(one.exact for one in alone)
    assert all(one.assumption in result.certificate.assumption for one in alone)
    np.testing.assert_array_equal(result.scores, [query.scores for query in result.queries])
    np.testing.assert_array_equal(result.indices, [query.indices for query in result.queries])


def certificate(**changes: Any) -> sureshot.Certificate:
    plain: dict[str, Any] = {"epsilon": 0.0, "delta": 0.05, "exact": False, "scores": "exact"}
    plain |= {"unconditional": True, "assumption": "unconditional"}
    return sureshot.Certificate(**(plain | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"every_position": True}, "this is the true top k, position by position;"),
        (
            {"every_position": True, "epsilon": 0.5},
            "this is within 0.5 of the true top k, position by position;",
        ),
        ({"epsilon": 0.5}, "the last of these is within 0.5 of the true k-th best;"),
        ({}, "the last of these is as good as the true k-th best;"),
    ],
)
def test_the_words_of_a_promise(changes: dict[str, Any], words: str) -> None:
    assert str(certificate(**changes)).startswith(f"With probability at least 0.95 {words}")


def test_only_what_is_proved_is_promised_for_every_position() -> None:
    data = np.random.default_rng(6).random((60, 2048))
    query = np.random.default_rng(7).standard_normal(2048)
    for method in ("betting", "exact", "bounded-me", "lucb"):
        found = sureshot.top_k(
            data, query, 3, bounds=(0, 1), method=method, epsilon=900.0, rng=0
        ).certificate
        assert found.exact == (method == "exact")
        assert found.every_position == (method in ("betting", "exact"))


def test_a_batch_without_bounds_has_one_sentence() -> None:
    rng = np.random.default_rng(8)
    patterns = rng.standard_normal((4, 4096))
    data = rng.standard_normal((200, 4)) @ patterns + 0.1 * rng.standard_normal((200, 4096))
    queries = rng.standard_normal((60, 4)) @ patterns
    queries[5] = 0
    found = sureshot.top_k(data, queries, 3, budget=0.99, rng=0)  # which is raced, not multiplied
    own = [one.certificate for one in found.queries]
    limits = [one.limit for one in own if one.limit is not None]
    assert len(set(limits)) > 10
    assert all(one.limit is None and one.exact for one in own if one.limit not in limits)
    exact = sum(one.exact for one in own)
    words = found.certificate.assumption
    assert found.certificate.limit == min(limits)
    assert words.count("unless") == 1
    assert f"for {len(limits)} of 60 queries: unless some" in words
    assert f"for {exact} of 60 queries: no assumption is needed" in words
    assert f"{min(limits):.6g} to {max(limits):.6g} (estimates" in words
    assert not found.certificate.unconditional
    for text in (str(found.certificate), repr(found)):
        assert len(text) < 1500
    # A query alone says the same as in the batch.
    alone = sureshot.top_k(data, queries[0], 3, budget=0.99, rng=0)
    assert alone.certificate == own[0]
    assert f"exceeds {own[0].limit:.6g} (an estimate" in own[0].assumption


def test_a_batch_of_a_bandit_has_one_sentence() -> None:
    """How often arms were pulled differs from query to query and is told by the rounds."""
    data = np.random.default_rng(9).random((20, 300))
    queries = np.random.default_rng(10).standard_normal((30, 300))
    found = sureshot.top_k(data, queries, 2, bounds=(0, 1), method="lucb", epsilon=150.0, rng=0)
    assert len(found.certificate.assumption) < 300


def test_one_limit_for_all_queries_is_named_plainly() -> None:
    data = np.random.default_rng(11).choice([-1.0, 1.0], (300, 2048))
    query = data[0] + np.random.default_rng(12).standard_normal(2048)
    found = sureshot.top_k(data, np.stack([query, query]), 1, epsilon=300.0, rng=0)
    assert found.certificate.limit is not None
    assert found.certificate.assumption == found.queries[0].certificate.assumption


@every_result
def test_plot_draws_the_race(method: str, kind: str) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="plot() needs the extra matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an extra, after its backend

    result = RESULTS[kind](method)
    axes = result.plot()
    assert len(axes.lines) == 2 * len(result.queries)
    for active, undecided, query in zip(
        axes.lines[::2], axes.lines[1::2], result.queries, strict=True
    ):
        for line in (active, undecided):
            assert list(line.get_xdata()) == [info.numbers_read for info in query.rounds]
        assert list(active.get_ydata()) == [info.active for info in query.rounds]
        assert list(undecided.get_ydata()) == [info.arms for info in query.rounds]
    axes.figure.canvas.draw()
    given = plt.figure().subplots()
    assert result.plot(given) is given
    assert len(given.lines) == 2 * len(result.queries)
    plt.close("all")


def test_plot_without_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = one_query("exact")
    with pytest.raises(ImportError, match=r"matplotlib.*sureshot\[report\]"):
        result.plot()
